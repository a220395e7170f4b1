"""What a stored sweep shows: what knobs cost, figures per topic and partition, and no crowded plot."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.run_dir import RunDir
from streamgauge.families.sweep.document import SweepDocument
from streamgauge.families.sweep.show import show_sweep
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.shown import Figures, Section, Shown
from streamgauge.report.shown_tables import Table
from tests.golden import stored


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    copied = stored.copy_of("sweep", tmp_path_factory.mktemp("sweep"))
    analyze_with(lambda: pytest.fail("so few messages need no Spark"), copied)
    return copied


@pytest.fixture(scope="module")
def document(run: RunDir) -> SweepDocument:
    found = results_document(run)
    assert isinstance(found, SweepDocument)
    return found


@pytest.fixture(scope="module")
def shown(run: RunDir, document: SweepDocument) -> Shown:
    return show_sweep(document, ResultTables.read(run))


def section(shown: Shown, begins: str) -> Section:
    [found] = [one for one in shown.sections if one.title.startswith(begins)]
    return found


def test_each_knob_has_its_effects(document: SweepDocument, shown: Shown) -> None:
    assert document.effects
    knobs = {effect.knob for effect in document.effects}
    costs = section(shown, "What ")
    [table] = [block for block in costs.blocks if isinstance(block, Table)]
    assert {str(line.cells[0].value) for line in table.rows} == knobs
    [figures] = [block for block in costs.blocks if isinstance(block, Figures)]
    assert len(figures.figures) == len({(one.knob, one.response) for one in document.effects})


def test_no_plot_has_more_lines_than_can_be_told_apart(shown: Shown) -> None:
    assert not any(
        len(figure.series) > 8
        for part in shown.sections[:4]
        for block in part.blocks
        if isinstance(block, Figures)
        for figure in block.figures
        if hasattr(figure, "series")
    )


def test_least_mean_and_greatest_per_topic_and_partition(document: SweepDocument, shown: Shown) -> None:
    [table] = [b for b in section(shown, "Per test").blocks if isinstance(b, Table)]
    wanted = sum(1 + len(case.topics) + len(case.partitions) for case in document.cases if case.is_measured)
    assert len(table.rows) == min(wanted, 64)
    case = document.cases[0]
    part = case.partitions[0].latency_ms.intended_to_received
    assert part.min is not None
    assert part.mean is not None
    assert part.max is not None
    assert part.min <= part.mean <= part.max
    names = [column.name for column in table.columns]
    assert names[3:8] == ["min", "mean", "max", "KiB/s", "msg/s"]
    first = [cell.value for cell in table.rows[0].cells]
    whole = case.latency_ms.intended_to_received
    assert first[3:8] == [
        whole.min,
        whole.mean,
        whole.max,
        case.delivery.kib_per_s,
        case.delivery.messages_per_s,
    ]


def test_where_no_knob_was_turned_nothing_is_said_to_cost(tmp_path: Path, run: RunDir) -> None:
    document = results_document(run)
    assert isinstance(document, SweepDocument)
    bare = document.model_copy(update={"effects": [], "cases": document.cases[:1]})
    titles = [part.title for part in show_sweep(bare, ResultTables.read(run)).sections]
    assert not any(title.startswith("What ") for title in titles)
