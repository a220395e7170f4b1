"""results/verification.json: is every promise of the log kept? From events and table `messages`, at any size.

Nothing here holds a row for every message: records go by in row groups, and what is carried on is a few
numbers a partition. What became of a message the kernel has decided; here it is found where, and what no
single message shows: one offset with two messages, a reader that goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from streamgauge.analysis.feeding.reading import read_groups, rows_by_case
from streamgauge.analysis.feeding.slices import RowGroup, by_case
from streamgauge.analysis.joining.columns import integers, message_keys
from streamgauge.analysis.joining.groups import Integers
from streamgauge.analysis.message_rows import messages_of
from streamgauge.analysis.rolling.late_copies import is_of_rolled_up, late_copies
from streamgauge.analysis.storage import read_few_events
from streamgauge.analysis.verifying.beside import beside, one_ahead
from streamgauge.analysis.verifying.copies import COPIED, Copies, sort_out
from streamgauge.analysis.verifying.fates import LOOKED_AT, Fates
from streamgauge.analysis.verifying.log_places import LogPlaces, check_places
from streamgauge.analysis.verifying.polls import NO_DEALS, POLLED, Polls, deals_of
from streamgauge.analysis.verifying.promises import Promises, promises_of
from streamgauge.core.findings import (
    MOST_EXAMPLES,
    CaseVerification,
    Example,
    Finding,
    FindingKind,
    Question,
    Verification,
)
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, read_status
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.roll_up_file import RollUp
from streamgauge.tables.events import CORRUPT, INTACT, MARKS, RECEIVES, SENDS, UNEXPECTED

NOTHING_ROLLED: Mapping[str, RollUp] = {}
_OF_READERS = frozenset(Question)
"""Producers alone can answer none: not even offsets, which nobody compares with what was read there."""


class Verified(NamedTuple):
    found: Verification
    written_again: Mapping[str, Integers]
    """By case the sorted keys of messages at more than one offset, one for each copy."""

    @property
    def by_case(self) -> dict[str, CaseVerification]:
        return {case.case: case for case in self.found.cases}


def verify(
    run: RunDir, plan: Plan, groups: Sequence[RowGroup], rolled: Mapping[str, RollUp] = NOTHING_ROLLED
) -> Verified:
    """`groups`: of sends and receives that were not rolled up. Table `messages` has been written."""
    own = by_case(groups)
    noted: Mapping[str, Any] = run.read_json(run.environment) if run.has(run.environment) else {}
    ended = read_status(run).cases
    deals = deals_of(read_few_events(run, MARKS))
    logs = {}
    for case in plan.cases:
        promises = promises_of(noted, case, ended.get(case.id))
        polls = Polls(deals.get(case.id, NO_DEALS))
        logs[case.id] = _Log(run, case, own.get(case.id, []), promises, rolled.get(case.id), polls)
    for part in one_ahead(messages_of(run, LOOKED_AT, with_rolled_up=False)):
        for name, rows in rows_by_case(part):
            logs[name].fates.add(rows)
    found = Verification(
        run=plan.run, cases=tuple(log.verification(ended.get(name)) for name, log in logs.items())
    )
    run.write_text(run.verification, found.model_dump_json(indent=1) + "\n")
    return Verified(found, {case: log.copies.written_keys for case, log in logs.items()})


class _Log:
    """What is known of one case."""

    def __init__(
        self,
        run: RunDir,
        case: Case,
        groups: Sequence[RowGroup],
        promises: Promises,
        rolled: RollUp | None,
        polls: Polls,
    ) -> None:
        """`rolled`: what was judged before, and is not among the groups; all was well with it. `polls`: to be
        fed here."""
        self._run, self._case, self._groups, self._promises = run, case, groups, promises
        self._rolled = rolled
        self._late = late_copies(rolled, self._records(COPIED))
        self._polls = polls
        room = run.local("results") if run.is_local else None
        self._places = LogPlaces()
        with beside(map(polls.add, self._records(POLLED)), sum(group.rows for group in groups)):
            if promises.has_log:
                self._places = check_places(groups, self._read, rolled=rolled, room=room)
        self.fates = Fates(case, self._polls, self._places.unread, is_whole=promises.is_whole)

    def _records(self, columns: list[str]) -> Iterator[pa.Table]:
        for group in self._groups:
            if group.table == RECEIVES.name:
                yield self._read(group, columns)

    def _read(self, group: RowGroup, columns: list[str]) -> pa.Table:
        return read_groups(self._run, RECEIVES if group.table == RECEIVES.name else SENDS, [group], columns)

    @cached_property
    def copies(self) -> Copies:
        """When all messages were added."""
        repeated = self.fates.repeated
        return sort_out(repeated, self._records(COPIED)) if len(repeated) else Copies()

    def verification(self, ended: CaseStatus | None) -> CaseVerification:
        """When all messages were added. `ended`: None if the case was not begun."""
        fates, polls, copies = self.fates, self._polls, self.copies
        unsent = polls.intact_count - fates.copies_count - self._late.count
        found: dict[FindingKind, tuple[int, Iterable[Example]]] = {
            kind: (fates.counts[kind], fates.examples[kind]) for kind in FindingKind
        }
        found[FindingKind.INCONSISTENT_OFFSETS] = (
            self._places.conflict_count + fates.counts[FindingKind.INCONSISTENT_OFFSETS],
            [*self._named(self._places.conflicts), *fates.examples[FindingKind.INCONSISTENT_OFFSETS]],
        )
        found[FindingKind.DUPLICATE] = (
            copies.written_again + self._late.written_again,
            self._named([*copies.written, *self._late.written]),
        )
        found[FindingKind.REDELIVERED] = (
            copies.read_again + self._late.read_again,
            self._named([*copies.read, *self._late.read]),
        )
        backs = [*polls.unasked, *(one for one in polls.backs if one not in polls.unasked)]
        found[FindingKind.NONMONOTONIC_POLL] = polls.back_count, self._named(backs)
        found[FindingKind.CORRUPT] = polls.damaged_counts[CORRUPT], self._named(polls.damaged[CORRUPT])
        found[FindingKind.UNEXPECTED] = (
            polls.damaged_counts[UNEXPECTED] + unsent,
            self._named([*polls.damaged[UNEXPECTED], *(self._unsent() if unsent else ())]),
        )
        acked = fates.acked_count + (self._rolled.acked if self._rolled else 0)
        received = polls.intact_count + (self._rolled.received if self._rolled else 0)
        missing = tuple(undecided(ended, acked=acked, received=received))
        is_skipped = ended is not None and ended.is_skipped
        left_open = list(self._left_open())
        unanswered = frozenset[Question]().union(*(questions for questions, _ in left_open))
        # Where there is no log nobody promised that offsets agree.
        asked = unanswered if self._promises.has_log else unanswered - {Question.OFFSETS}
        return CaseVerification(
            case=self._case.id,
            acked=acked,
            received=received,
            partitions=len(polls.last_offsets),
            cut_back=self._places.cut_back_count,
            rolled_up=self._rolled.messages if self._rolled else 0,
            rolled_up_kept=self._rolled.kept if self._rolled else 0,
            not_checked=(*missing, *(why for _, why in left_open)),
            unanswered=tuple(question for question in Question if question in unanswered),
            is_decided=is_skipped or not (missing or asked),
            findings=tuple(self._finding(kind, *found[kind]) for kind in FindingKind if found[kind][0]),
        )

    def _finding(self, kind: FindingKind, count: int, examples: Iterable[Example]) -> Finding:
        few = tuple(examples)[:MOST_EXAMPLES]
        allowed_by = self._promises.allowed_by(kind, went_back_unasked=self._polls.unasked_count > 0)
        return Finding(kind=kind, count=count, allowed_by=allowed_by, examples=few)

    def _named(self, examples: Iterable[Example]) -> list[Example]:
        """With names of topics in place of their numbers."""
        names = dict(enumerate(self._case.topics))
        return [
            example.model_copy(update={"topic": names.get(int(example.topic or 0), example.topic)})
            for example in examples
        ]

    def _unsent(self) -> Iterator[Example]:
        """Intact records of which no send is known; only of sends that Parquet says may be theirs."""
        sends = [group for group in self._groups if group.table == SENDS.name]
        for part in self._records(COPIED):
            sequence = integers(part, "sequence")
            keys = message_keys(integers(part, "producer"), sequence)
            is_unknown = integers(part, "state") == INTACT
            if self._rolled is not None:
                is_unknown &= ~is_of_rolled_up(self._rolled, part)
            for group in sends:
                low, high = group.sequences or (0, int(sequence.max()))
                if is_unknown.any() and high >= sequence.min() and low <= sequence.max():
                    known = self._read(group, ["producer", "sequence"])
                    sent = message_keys(integers(known, "producer"), integers(known, "sequence"))
                    is_unknown &= ~np.isin(keys, sent)
            rows = part.filter(pa.array(is_unknown)).slice(0, MOST_EXAMPLES).drop_columns(["state"])
            for row in rows.to_pylist():
                yield Example(**row | {"topic": str(row["topic"])})

    def _left_open(self) -> Iterator[tuple[frozenset[Question], str]]:
        """Questions that nobody could answer, and why; what was recorded does not tell."""
        if not self._case.load.consumer_count:
            yield _OF_READERS, "what arrives: there is no consumer"
        if not self._promises.has_log:
            yield frozenset({Question.OFFSETS}), "offsets: this transport keeps no log"
        if not self._case.load.completions:
            yield (
                frozenset({Question.LOSS}),
                "lost writes: producers were not told what became of their messages",
            )
        if not self.fates.has_all_repeated:
            yield (
                frozenset({Question.COPIES}),
                "which messages were stored twice and which were read twice, beyond the first "
                f"{len(self.fates.repeated):,} that came more than once",
            )
        if not self._places.has_all_unread:
            yield (
                frozenset({Question.OFFSETS}),
                "messages that are not where they were acknowledged, beyond the first "
                f"{len(self._places.unread):,}",
            )
        if self._rolled is not None and not self._rolled.has_all_places:
            yield (
                frozenset({Question.OFFSETS}),
                "whether the offset of a message that was rolled up was given to another one later",
            )


def undecided(ended: CaseStatus | None, *, acked: int, received: int) -> Iterator[str]:
    """Why it says nothing that nothing was found."""
    if ended is None:
        yield "everything: the case was not begun"
    elif ended.is_skipped:
        yield "everything: the case was not run, as an earlier one had said all there was to say"
    else:
        if ended.status != "ok":
            yield f"what was not recorded: the case did not end as planned ({ended.reason or ended.status})"
        if not (acked or received):
            yield "everything: nothing was acknowledged, and nothing received"
