"""What comes of a run's messages, however they were fed to the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.joining.facts import AgentClocks, CaseFacts
from streamgauge.analysis.joining.join import facts_of
from streamgauge.analysis.joining.strays import unclaimed
from streamgauge.analysis.joining.survey import Survey
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.results import SECOND

NO_CLOCKS = AgentClocks({}, {})
NOTHING_ROLLED: Mapping[str, int] = {}


class Fed(NamedTuple):
    """The table `messages` is written; these are small, and what all other tables are made of."""

    starts_ns: Mapping[str, int]
    """Of the cases in which something was sent."""
    cells: pa.Table
    strays: pa.Table
    """As `joining.strays` has them, but with the names of topics."""
    latency: pa.Table
    histogram: pa.Table
    buckets: pa.Table = BUCKETS.empty_table()
    """Those that belong together with what was rolled up."""


def to_be_added(buckets: pa.Table, rolled_to: Mapping[str, int]) -> pa.Table:
    """`rolled_to`: the last second of each case of which something was rolled up."""
    kept = [
        buckets.filter(
            (pc.field("case") == case) & ((pc.field("scope") != SECOND) | (pc.field("second") <= last))
        )
        for case, last in rolled_to.items()
    ]
    return pa.concat_tables([BUCKETS.empty_table(), *kept])


def all_facts(
    plan: Plan, clocks: Mapping[str, AgentClocks], survey: Survey, *, with_damage: bool = True
) -> dict[str, CaseFacts]:
    """By case."""
    return {
        case.id: facts_of(
            case, clocks.get(case.id, NO_CLOCKS), survey.of_case(case.id), with_damage=with_damage
        )
        for case in plan.cases
    }


def starts_of(survey: Survey, facts: Mapping[str, CaseFacts]) -> dict[str, int]:
    return {case: facts[case].start_ns for case in set(survey.firsts["case"].to_pylist())}


def all_strays(
    unsent: pa.Table, damage: pa.Table, claimed: pa.Table, facts: Mapping[str, CaseFacts]
) -> pa.Table:
    """Intact records that nobody sent, and damage that is of no message; with the names of topics."""
    return named(pa.concat_tables([unsent, unclaimed(damage, claimed)]), facts)


def named(strays: pa.Table, facts: Mapping[str, CaseFacts]) -> pa.Table:
    places = zip(strays["case"].to_pylist(), strays["topic"].to_pylist(), strict=True)
    names = pa.array([facts[case].topic_name(topic) for case, topic in places], pa.string())
    return strays.set_column(strays.column_names.index("topic"), pa.field("topic", pa.string()), names)
