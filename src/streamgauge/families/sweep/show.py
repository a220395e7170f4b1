"""What there is to see of a sweep: how latency and throughput follow the knob that was turned."""

from __future__ import annotations

from streamgauge.report.case_document import CasesDocument
from streamgauge.report.cases_show import show_cases
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import ON_PAGE, Block, Figures, Note, Section, Shown
from streamgauge.report.sweep_figures import sweep_figures
from streamgauge.report.sweep_points import sweep_plot

_OTHER_KNOBS = "Other knobs: streamgauge plot RUN --x KNOB. The folder plots has the same data for Gnuplot."


def show_sweep(document: CasesDocument, tables: ResultTables) -> Shown:
    plot = sweep_plot([document])
    first = []
    if plot is not None:
        blocks: list[Block] = [Figures(sweep_figures(plot)), Note(_OTHER_KNOBS)]
        first.append(Section(f"By {plot.knob}", blocks, where=ON_PAGE))
    return show_cases(document, tables, kicker="streamgauge sweep", first=first)
