"""events/rolled/case=…/NNNNN/part.json: which events were counted and let go, to keep a long run small.

A roll-up takes effect when this file is there, whole; what has to follow, removing the event files that it
replaces and moving what is left of their rows into place, `finish` does, as often as it takes.
"""

from __future__ import annotations

from functools import cached_property

from streamgauge.core.intervals import KeyedIntervals
from streamgauge.core.run_dir import RunDir
from streamgauge.spec.model import SpecModel

PART = "part.json"
Row = tuple[int, ...]


class RollUp(SpecModel):
    """One after another; what is said of messages is of all up to this one."""

    number: int
    replaces: tuple[str, ...]
    """Event files that are gone with it."""
    rest: dict[str, str]
    """Where each file of rows that are left belongs, by its name in the roll-up's folder."""
    messages: int = 0
    acked: int = 0
    received: int = 0
    kept: int = 0
    """Of the messages: how many have a row of their own all the same."""
    start_ns: int = 0
    """When the first message of the case was due: seconds count from there."""
    late_over_ms: float | None = None
    """By which messages count as late since the first fault; None: there was none yet."""
    sends: tuple[Row, ...] = ()
    """Rows that are gone: producer, first sequence, the one after the last."""
    receives: tuple[Row, ...] = ()
    """The same by consumer and arrival."""
    places: tuple[Row, ...] = ()
    """Where the messages lay: topic, partition, first offset, the one after the last."""
    has_all_places: bool = True
    """False: there were too many gaps to tell them."""

    @cached_property
    def gone_sends(self) -> KeyedIntervals:
        return KeyedIntervals.from_rows(self.sends)

    @cached_property
    def gone_receives(self) -> KeyedIntervals:
        return KeyedIntervals.from_rows(self.receives)

    @cached_property
    def gone_places(self) -> KeyedIntervals:
        return KeyedIntervals.from_rows(self.places)


def last_roll_up(run: RunDir, case: str) -> RollUp | None:
    """It tells of all before it, too."""
    folders = part_folders(run, case)
    return RollUp.model_validate(run.read_json(f"{folders[-1]}/{PART}")) if folders else None


def part_folders(run: RunDir, case: str) -> list[str]:
    """Of the roll-ups that took effect, in their order."""
    return [path.removesuffix(f"/{PART}") for path in run.list_files(run.rolled(case), f"/{PART}")]


def finish(run: RunDir, case: str) -> None:
    """What the last one left undone, if whoever made it was killed: before the next all is done."""
    part = last_roll_up(run, case)
    if part is None:
        return
    for name, place in part.rest.items():
        left = run.local(f"{run.rolled(case, part.number)}/{name}")
        if left.exists():
            left.replace(run.local(place))
    for file in part.replaces:
        run.local(file).unlink(missing_ok=True)


def drop_unfinished(run: RunDir, case: str) -> None:
    """What was to become a roll-up and did not; nobody may be at it."""
    folder = run.local(run.rolled(case))
    for own in folder.iterdir() if folder.is_dir() else ():
        if not (own / PART).exists():
            run.remove(f"{run.rolled(case)}/{own.name}")
