"""One roll-up: the oldest event files of a case are judged, counted and let go, all at once or not at all.

The kernel decides what became of messages, as it does of all others; here it is only chosen which ones are
asked about early. What it gives of them adds up with what it gives of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.fault_figures import first_fault_ns, usual_before
from streamgauge.analysis.feeding.reading import read_groups
from streamgauge.analysis.feeding.slices import USUAL, RowGroup
from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.joining.groups import Bools
from streamgauge.analysis.joining.join import Joined, counted, facts_of
from streamgauge.analysis.joining.messages import Messages, join_messages
from streamgauge.analysis.joining.survey import Survey
from streamgauge.analysis.result_rows import write_packed
from streamgauge.analysis.rolling.choosing import Chosen, EventFile, choose, event_files
from streamgauge.analysis.rolling.files import (
    CELLS_FILE,
    MESSAGES_FILE,
    SECONDS_FILE,
    TOTALS_FILE,
    read_totals,
)
from streamgauge.analysis.rolling.keeping import is_kept
from streamgauge.analysis.rolling.letting_go import Going, may_go
from streamgauge.analysis.rolling.totals import added, of_seconds
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.intervals import KeyedIntervals
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.roll_up_file import PART, RollUp, finish, last_roll_up, part_folders
from streamgauge.tables.column import Table
from streamgauge.tables.events import INTACT, RECEIVES, SENDS

_OPEN_NS = 600 * NS_PER_S
"""For so long a message that is not settled is looked at again; then it stays as it is."""
_SETTLING_SPARE_NS = 60 * NS_PER_S
_FEWEST_A_PLACE = 4
"""Messages side by side, on average; with fewer, telling their places takes as much as the messages did."""


@dataclass(frozen=True)
class Terms:
    """How much at a time."""

    most_sends: int = USUAL.rows // 4
    """It is done beside what is measured: a quarter of what a task of the analysis has in memory."""
    most_rows: int = USUAL.most_rows // 4


def roll_up(
    run: RunDir,
    case: Case,
    clocks: AgentClocks,
    groups: Iterable[RowGroup],
    until_ns: int,
    terms: Terms = Terms(),  # noqa: B008
) -> RollUp | None:
    """`until_ns`: what was due later stays as it is. None: there is nothing to be done by then."""
    there = list(groups)
    before = last_roll_up(run, case.id)
    if before is None:
        start_ns = _start_ns(case, there)
        before = None if start_ns is None else RollUp(number=0, replaces=(), rest={}, start_ns=start_ns)
    chosen = choose(event_files(there), until_ns, terms.most_sends, terms.most_rows)
    if before is None or chosen is None:
        return None
    step = _Step(run, case, clocks, chosen, before)
    part = step.written(until_ns)
    run.write_text(f"{step.folder}/{PART}", part.model_dump_json() + "\n")
    finish(run, case.id)
    return part


class _Step:
    def __init__(self, run: RunDir, case: Case, clocks: AgentClocks, chosen: Chosen, before: RollUp) -> None:
        self._run, self._case, self._chosen, self._before = run, case, chosen, before
        self._number = before.number + 1
        self.folder = run.rolled(case.id, self._number)
        self._sends, self._receives = (
            _read(run, table, files) for table, files in ((SENDS, chosen.sends), (RECEIVES, chosen.receives))
        )
        survey = Survey.of(case.id, self._sends, self._receives, USUAL.block)
        self._facts = replace(facts_of(case, clocks, survey), start_ns=before.start_ns)

    def written(self, until_ns: int) -> RollUp:
        """Everything but the word that it counts."""
        self._run.remove(self.folder)
        going, messages = self._judged()
        gone = messages.among(going.sends)
        joined = counted(gone).plain()
        late_ms = self._late_over_ms(joined)
        kept = joined.messages.filter(pa.array(is_kept(joined.messages, self._case, late_ms)))
        self._write_counted(joined, kept)
        rest = self._write_rest(going, until_ns)
        places, has_all_places = self._places(gone)
        before, records = self._before, self._receives.filter(pa.array(going.receives))
        sends = before.gone_sends | KeyedIntervals.of([gone.producer], gone.sequence)
        receives = before.gone_receives | KeyedIntervals.of(
            [integers(records, "consumer")], integers(records, "arrival")
        )
        return RollUp(
            number=self._number,
            replaces=(
                *(file.path for file in (*self._chosen.sends, *self._chosen.receives)),
                *self._outdated(),
            ),
            rest=rest,
            messages=before.messages + len(gone.sequence),
            acked=before.acked + int(np.count_nonzero(gone.is_acked)),
            received=before.received + records.num_rows,
            kept=before.kept + kept.num_rows,
            start_ns=before.start_ns,
            late_over_ms=late_ms,
            sends=tuple(map(tuple, sends.rows())),
            receives=tuple(map(tuple, receives.rows())),
            places=tuple(map(tuple, places.rows())),
            has_all_places=has_all_places,
        )

    def _outdated(self) -> list[str]:
        """Totals are of all so far: the last are enough."""
        number = self._before.number
        return [f"{self._run.rolled(self._case.id, number)}/{TOTALS_FILE}"] if number else []

    def _judged(self) -> tuple[Going, Messages]:
        is_intact = self._receives["state"].to_numpy() == INTACT
        intact = self._receives if is_intact.all() else self._receives.filter(pa.array(is_intact))
        messages = join_messages(self._facts, self._sends, intact, {})
        # The first message of all stays: times count from there.
        may = (messages.intended_ns > self._facts.start_ns) & self._is_surely_measured(messages)
        completions = self._case.load.completions
        return may_go(messages, self._sends, self._receives, may, completions=completions), messages

    def _is_surely_measured(self, messages: Messages) -> Bools:
        """Since when messages count is said when a case has ended; but it is no later than this."""
        load = self._case.load
        if not load.settles:
            return np.ones(len(messages.sequence), bool)
        since_ns = self._facts.start_ns + int(2 * load.warm_up_limit * NS_PER_S) + _SETTLING_SPARE_NS
        found: Bools = messages.intended_ns >= since_ns
        return found

    def _late_over_ms(self, joined: Joined) -> float | None:
        """Known since the first fault: by then all messages of the time before are here, or were kept."""
        began_ns = first_fault_ns(self._case)
        if began_ns is None or self._before.late_over_ms is not None:
            return self._before.late_over_ms
        due_ns = integers(joined.messages, "intended_ns")
        if not len(due_ns) or int(due_ns.max()) < began_ns:
            return None
        return usual_before([*self._kept_before(), joined.messages], began_ns)

    def _kept_before(self) -> Iterable[pa.Table]:
        for folder in part_folders(self._run, self._case.id):
            with self._run.open_input(f"{folder}/{MESSAGES_FILE}") as stream:
                yield pq.read_table(stream)

    def _write_counted(self, joined: Joined, kept: pa.Table) -> None:
        before = read_totals(self._run, self._case.id, self._before.number)
        write_packed(self._run, f"{self.folder}/{TOTALS_FILE}", added([before, joined.buckets]))
        write_packed(self._run, f"{self.folder}/{SECONDS_FILE}", of_seconds(joined.buckets))
        write_packed(self._run, f"{self.folder}/{CELLS_FILE}", joined.cells)
        write_packed(self._run, f"{self.folder}/{MESSAGES_FILE}", kept)

    def _write_rest(self, going: Going, until_ns: int) -> dict[str, str]:
        """Rows that stay, as event files: by agent, in their order; sends that are open, and others."""
        is_open = integers(self._sends, "intended_ns") > until_ns - _OPEN_NS
        rest: dict[str, str] = {}
        for table, files, rows, stays, letter in (
            (SENDS, self._chosen.sends, self._sends, ~going.sends & is_open, "r"),
            (SENDS, self._chosen.sends, self._sends, ~going.sends & ~is_open, "k"),
            (RECEIVES, self._chosen.receives, self._receives, ~going.receives, "r"),
        ):
            for agent, place in _by_agent(files).items():
                own = rows.slice(place.start, place.rows).filter(
                    pa.array(stays[place.start : place.start + place.rows])
                )
                if own.num_rows:
                    name = f"{table.name}-{agent}-{letter}.parquet"
                    write_packed(self._run, f"{self.folder}/{name}", own)
                    to = f"{agent}-{place.last:05d}{letter}{self._number:05d}.parquet"
                    rest[name] = f"{self._run.events(table.name, self._case.id)}/{to}"
        return rest

    def _places(self, gone: Messages) -> tuple[KeyedIntervals, bool]:
        before, offset = self._before, gone.offset
        has_place = offset.valid & (offset.values >= 0)
        found = KeyedIntervals.of([gone.topic[has_place], gone.place[has_place]], offset.values[has_place])
        if not before.has_all_places or len(found) * _FEWEST_A_PLACE > np.count_nonzero(has_place) + 1000:
            return KeyedIntervals(), False
        return before.gone_places | found, True


@dataclass(frozen=True)
class _Place:
    """Of an agent's rows among all that were read."""

    start: int
    rows: int
    last: int
    """Number of its last file."""


def _by_agent(files: Sequence[EventFile]) -> dict[str, _Place]:
    """Files of an agent were read one behind the other."""
    found: dict[str, _Place] = {}
    start = 0
    for file in files:
        own = found.get(file.agent, _Place(start, 0, 0))
        found[file.agent] = _Place(own.start, own.rows + file.rows, max(own.last, file.order[0]))
        start += file.rows
    return found


def _read(run: RunDir, table: Table, files: Sequence[EventFile]) -> pa.Table:
    groups = [group for file in files for group in file.groups]
    return read_groups(run, table, groups, table.column_names)


def _start_ns(case: Case, groups: Iterable[RowGroup]) -> int | None:
    """When the first message of a case was due; None: somebody has not written when it began."""
    first_ns: list[int] = []
    missing = {number for task in case.agents if task.kind == "producer" for number in task.numbers}
    for group in groups:
        if group.table == SENDS.name and group.intended_ns is not None and group.producers is not None:
            first_ns.append(group.intended_ns[0])
            missing -= set(range(group.producers[0], group.producers[1] + 1))
    return min(first_ns) if first_ns and not missing else None
