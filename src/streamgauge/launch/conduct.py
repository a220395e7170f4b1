"""How the cases of a family are conducted: checked, run, judged and followed.

What is here is the common way, that of producers and consumers; a family overrides where it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rich.console import Console

from streamgauge.agents.diary import Manifest
from streamgauge.agents.sampler import Told
from streamgauge.core.outside import Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.feasibility import why_load_is_impossible
from streamgauge.launch.served_load import ServedLoad, served_load
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.spec.families import family_of
from streamgauge.spec.load import Load
from streamgauge.spec.workload import Workload
from streamgauge.systems.members import Members

if TYPE_CHECKING:
    from streamgauge.launch.run_records import RunRecords


@dataclass(frozen=True)
class CaseSystem:
    """What runs beside the target's system, for one case only."""

    endpoints: dict[str, str] = field(default_factory=dict)
    processes: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Name → kind in the samples, process id."""
    traffic: dict[str, Callable[[], tuple[int, int] | None]] = field(default_factory=dict)
    """Of which processes it is counted what they send and receive, and how."""
    told: dict[str, tuple[str, Callable[[], Told]]] = field(default_factory=dict)
    """Name → kind in the samples, what a process elsewhere told last of itself."""
    members: Members | None = None
    """Of what was started for the case, for faults."""
    ended: Callable[[], str | None] = lambda: None
    """Why it is not up any more; None while it is."""


@dataclass(frozen=True)
class Judgement:
    """What came of a case whose agents went through it, as its family sees it."""

    holds: bool
    """False: the heavier cases of its series would be in vain."""
    words: str


class Telling(Protocol):
    """Who shows a run while it goes on."""

    def tell(self, line: str) -> None: ...


class Course(Protocol):
    """Plans cases as it goes: which one comes next hangs on what the ones before gave."""

    plan: Plan
    """With all cases so far."""

    def cases(self, progress: Telling) -> Iterator[Case]:
        """Each is to be run before the next is asked for."""

    def failure(self) -> str | None:
        """Why the run as a whole has failed; single cases may have. None: it has not."""


class CaseWatch(Protocol):
    """Tells of a case while it runs, beside the bar."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Conduct:
    def check(self, workload: Workload) -> None:
        """BadInput for what can be known to be wrong before anything starts."""

    def why_impossible(self, case: Case) -> str | None:
        """Why its target cannot do what the case asks for."""
        return why_load_is_impossible(case) if isinstance(case.work, Load) else None

    def around(
        self, run: RunDir, case: Case, system: TargetSystem, outside: Outside | None = None
    ) -> AbstractContextManager[CaseSystem]:
        """What is up while the case runs. `outside`: how agents on other hosts get at it, if some are."""
        return nullcontext(CaseSystem())

    def judge(self, case: Case, manifests: Sequence[Manifest]) -> Judgement | None:
        """None: the case is as good as what its agents say of themselves."""
        return None

    def course(self, run: RunDir, plan: Plan, records: RunRecords) -> Course | None:
        """None: all cases were planned beforehand."""
        return None

    def words_of(self, case: Case) -> str:
        """What the case is about, for a line of progress."""
        return ""

    def message_count(self, case: Case) -> int | None:
        """Messages that producers will send, warm-up and all; None: nobody knows."""
        total = case.work.total_messages if isinstance(case.work, Load) else None
        return None if total is None else total + case.load.total_warm_up_messages

    def settles(self, case: Case) -> bool:
        """Whether producers find out while they send how many of their messages are warm-up."""
        return isinstance(case.work, Load) and case.work.settles

    def served_load(self, case: Case) -> ServedLoad | None:
        """What goes through the launcher where hosts share no storage; None: nothing worth a word."""
        return served_load(case)

    def watch(self, run: RunDir, case: Case, console: Console) -> CaseWatch | None:
        return None


def conduct_of(kind: str) -> Conduct:
    """That of a family; the common one where it has none of its own."""
    return family_of(kind).conduct() or Conduct()
