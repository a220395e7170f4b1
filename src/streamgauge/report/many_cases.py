"""What a page has of each of many cases: plots and all tables of some, the latencies of every one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamgauge.report.case_document import Case
from streamgauge.report.case_section import LATENCIES
from streamgauge.report.medium import ON_PAGE
from streamgauge.report.shown import Block, Link, Note, Notes, Section, Shares
from streamgauge.report.shown_tables import Table

_WHOLE_AT_MOST = 12
"""A case more would make the page 60 KB larger."""
_LEFT_OUT = (
    "With this many cases the page draws the first, those in trouble and the slowest. All figures of this "
    "one are in the CSV files, by the number of the case:"
)
_FILES = ("accounting", "latency", "throughput", "histogram", "resources")


def whole_on_page(cases: Sequence[Case]) -> set[str]:
    """The first, those in trouble and the slowest."""
    first = cases[: _WHOLE_AT_MOST // 2]
    worst = sorted(cases, key=lambda case: (case.is_good, -(case.main_latency.p99 or 0.0)))
    ids = dict.fromkeys(case.case for case in (*first, *worst))
    return set(list(ids)[:_WHOLE_AT_MOST])


def brief_on_page(section: Section) -> Section:
    """Paper keeps all of it."""
    kept = [
        block if _is_brief(block) else replace(block, where=block.where - ON_PAGE) for block in section.blocks
    ]
    links = [Link(f"{name}.csv", f"csv/{name}.csv") for name in _FILES]
    return replace(section, blocks=[*kept, Note(_LEFT_OUT, where=ON_PAGE, links=links)])


def _is_brief(block: Block) -> bool:
    return isinstance(block, Note | Notes | Shares) or (isinstance(block, Table) and block.title == LATENCIES)
