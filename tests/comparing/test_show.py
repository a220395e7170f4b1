from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import Change, DiffDocument, DiffVerdict, HistoryDocument
from streamgauge.comparing.histories import history_document
from streamgauge.comparing.history_show import show_history
from streamgauge.comparing.measured import measured_run
from streamgauge.comparing.schema import SCHEMA_FILE, diff_schema, made_schema_text
from streamgauge.comparing.show import show_diff
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.page_renderer import render_page
from tests.report.seen import console_text, words

from .simulated_pairs import not_valid, simulated, with_environment

HOSTILE = "<script>document.title = 1</script>"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> tuple[DiffDocument, HistoryDocument]:
    folder = tmp_path_factory.mktemp("shown")
    base = simulated(folder, 1.0, seed=1)
    slower = with_environment(simulated(folder, 2.0, 3.0, seed=10), kernel=HOSTILE)
    bad = not_valid(simulated(folder, 4.0, seed=20))
    runs = [measured_run(run) for run in (base, slower, bad)]
    return diff_document(runs[:1], [runs[1:2], runs[2:]]), history_document(runs)


def test_documents_keep_to_the_schema_that_is_shipped(
    documents: tuple[DiffDocument, HistoryDocument],
) -> None:
    validator = jsonschema.Draft202012Validator(diff_schema())
    for document in documents:
        validator.validate(json.loads(document.model_dump_json()))


def test_the_schema_is_that_of_the_models() -> None:
    """`python tools/results_schema.py` writes it anew."""
    place = Path(__file__).parents[2] / "src" / "streamgauge" / "comparing" / SCHEMA_FILE
    assert place.read_text("utf-8") == made_schema_text()


def test_differences_are_told_in_every_medium(documents: tuple[DiffDocument, HistoryDocument]) -> None:
    shown = show_diff(documents[0])
    console = console_text(shown, 200)
    markdown, page = shown_markdown(shown), words(render_page(shown, None))
    for text in (console, markdown, page):
        assert "p50 2." in text
        assert "slower" in text.lower()
        assert "no difference seen" in text.lower()
        assert "it did not finish" in text
        assert "only the new run has it" in text
    assert console.index("What was not the same") < console.index("Figure by figure")
    assert HOSTILE not in render_page(shown, None)
    assert HOSTILE not in markdown


def test_what_goes_both_ways_says_so(documents: tuple[DiffDocument, HistoryDocument]) -> None:
    document = documents[0].model_copy(deep=True)
    document.differences[0].cases[0].metrics[-1].verdict = DiffVerdict.FASTER
    assert show_diff(document).badge.text == "faster and slower"


def test_a_history_is_told_in_every_medium(documents: tuple[DiffDocument, HistoryDocument]) -> None:
    document = documents[1].model_copy(deep=True)
    first = next(metric for metric in document.cases[0].metrics if metric.metric == "p50")
    shown = show_history(document)
    assert shown.badge.text == "no change seen"
    assert "at least 10 runs are needed to see a change; there are 3" in console_text(shown, 200)
    first.changes.append(
        Change(
            run=document.runs[1],
            base=1.0,
            new=2.0,
            ratio=2.0,
            p=0.001,
            verdict=DiffVerdict.SLOWER,
            environment=[],
        )
    )
    shown = show_history(document)
    for text in (console_text(shown, 200), words(render_page(shown, None))):
        assert f"p50 slower since {document.runs[1]}: 1.000 ms to 2.000 ms (2.00×)" in text
    assert "p50 slower since" in shown_markdown(shown)
