"""What there is to see of a sweep: how latency and throughput follow the knob that was turned."""

from __future__ import annotations

from streamgauge.report.case_document import CasesDocument
from streamgauge.report.cases_show import show_cases
from streamgauge.report.knob_figures import knob_figures
from streamgauge.report.knob_points import knob_plot
from streamgauge.report.medium import ON_PAGE
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Block, Figures, Note, Section, Shown

_OTHER_KNOBS = "Other knobs: streamgauge plot RUN --x KNOB. The folder plots has the same data for Gnuplot."


def show_sweep(document: CasesDocument, tables: ResultTables) -> Shown:
    plot = knob_plot([document])
    first = []
    if plot is not None:
        blocks: list[Block] = [Figures(knob_figures(plot)), Note(_OTHER_KNOBS)]
        first.append(Section(f"By {plot.knob}", blocks, where=ON_PAGE))
    return show_cases(document, tables, kicker="streamgauge sweep", first=first)
