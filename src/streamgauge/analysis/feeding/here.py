"""Few events: case by case in this process. Starting a task takes longer than all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from streamgauge.analysis.feeding.fed import NO_CLOCKS, NOTHING_ROLLED, Fed, all_strays, to_be_added
from streamgauge.analysis.feeding.reading import JOINED_OF_RECEIVES, read_groups
from streamgauge.analysis.feeding.slice_work import joined_slice, slice_work, surveyed
from streamgauge.analysis.feeding.slices import USUAL, Cutting, RowGroup, by_case, plan_slices
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.joining.join import Joined, facts_of, join
from streamgauge.analysis.joining.strays import STRAYS
from streamgauge.analysis.joining.survey import Survey
from streamgauge.analysis.latency import histogram, latency
from streamgauge.analysis.result_rows import write_rows
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import INTACT, RECEIVES, SENDS
from streamgauge.tables.results import MESSAGES


class JoinedCase(NamedTuple):
    joined: Joined
    strays: pa.Table
    start_ns: int | None
    """None when nothing was sent."""


def feed_here(
    run: RunDir,
    plan: Plan,
    groups: Sequence[RowGroup],
    clocks: Mapping[str, AgentClocks],
    rolled_to: Mapping[str, int] = NOTHING_ROLLED,
) -> Fed:
    own = by_case(groups)
    found = {
        case.id: join_case(run, case, own.get(case.id, []), clocks.get(case.id, NO_CLOCKS))
        for case in plan.cases
    }
    joined = Joined.together(one.joined for one in found.values())
    write_rows(run, MESSAGES, joined.messages)
    return Fed(
        {case: one.start_ns for case, one in found.items() if one.start_ns is not None},
        joined.cells,
        pa.concat_tables([_NAMED_STRAYS.empty_table(), *(one.strays for one in found.values())]),
        latency(joined.buckets),
        histogram(joined.buckets),
        to_be_added(joined.buckets, rolled_to),
    )


def join_slices(
    run: RunDir, case: Case, groups: Sequence[RowGroup], clocks: AgentClocks, cutting: Cutting = USUAL
) -> JoinedCase:
    """One case slice by slice, without a row for every message: as much as one slice is in memory."""
    slices = plan_slices(groups, cutting)
    if slices is None or len(slices) < 2:
        return join_case(run, case, groups, clocks)
    survey = Survey.merged(surveyed(run, group, cutting.block) for group in groups)
    facts = {case.id: facts_of(case, clocks, survey)}
    nothing = MESSAGES.arrow_schema().empty_table()
    joined = Joined.together(
        joined_slice(run, work)._replace(messages=nothing)
        for work in slice_work(slices, facts, survey, cutting.block)
    )
    strays = all_strays(joined.strays, survey.damage, joined.claimed, facts)
    return JoinedCase(joined, strays, facts[case.id].start_ns if survey.firsts.num_rows else None)


def join_case(run: RunDir, case: Case, groups: Sequence[RowGroup], clocks: AgentClocks) -> JoinedCase:
    """One case as a whole; `groups` are its own."""
    sends, receives = (
        read_groups(run, table, [group for group in groups if group.table == table.name], columns)
        for table, columns in ((SENDS, SENDS.column_names), (RECEIVES, JOINED_OF_RECEIVES))
    )
    survey = Survey.of(case.id, sends, receives, USUAL.block)
    facts = facts_of(case, clocks, survey)
    is_intact = receives["state"].to_numpy() == INTACT
    intact = receives if is_intact.all() else receives.filter(pa.array(is_intact))
    joined = join(facts, sends, intact)
    strays = all_strays(joined.strays, survey.damage, joined.claimed, {case.id: facts})
    return JoinedCase(joined, strays, facts.start_ns if sends.num_rows else None)


_NAMED_STRAYS = STRAYS.set(STRAYS.get_field_index("topic"), pa.field("topic", pa.string()))
