"""What comes of a run's messages, however they were fed to the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from streamgauge.analysis.joining.facts import AgentClocks, CaseFacts
from streamgauge.analysis.joining.join import facts_of
from streamgauge.analysis.joining.strays import unclaimed
from streamgauge.analysis.joining.survey import Survey
from streamgauge.plan.plan_file import Plan

NO_CLOCKS = AgentClocks({}, {})


class Fed(NamedTuple):
    """The table `messages` is written; these are small, and what all other tables are made of."""

    starts_ns: Mapping[str, int]
    """Of the cases in which something was sent."""
    cells: pa.Table
    strays: pa.Table
    """As `joining.strays` has them, but with the names of topics."""
    latency: pa.Table
    histogram: pa.Table


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
