"""The example notebook does what it says. It runs something: apart from tests with a session of Spark."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.comparing.document import DiffVerdict

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def _shown(source: str, names: dict[str, Any]) -> str | None:
    """What a notebook shows below a cell: its last value."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        exec(compile(ast.Module([*before, last], []), "cell", "exec"), names)
        return None
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    names["_"] = value
    return str(value._repr_html_()) if hasattr(value, "_repr_html_") else repr(value)


@pytest.mark.spark
@pytest.mark.usefixtures("no_session")
def test_the_example_notebook_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cell after cell, as a person would. Time is simulated: how busy the machine is changes no verdict."""
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    pages = [_shown("".join(cell["source"]), names) for cell in cells]
    first, figures, seconds, difference = (page or "" for page in pages)
    for run in (names["run"], names["slow"]):
        assert (run.document.integrity, run.document.validity) == ("ok", "valid")
    assert names["run"].tags == ["first"]
    assert "Integrity: all accounted for" in first
    assert "do not quote" not in first.lower()
    assert names["run"].latency.p50 == pytest.approx(3, rel=0.1)
    assert figures.endswith("30000)"), "a p50, a p99 and how many came"
    assert len(seconds.splitlines()) > 5, "a p99 of every second"
    [case] = names["_"].differences[0].cases
    verdicts = {each.metric: each.verdict for each in case.metrics}
    slower = dict.fromkeys(("p50", "p90", "p99", "p99.9", "mean"), DiffVerdict.SLOWER)
    assert verdicts == {**slower, "rate": DiffVerdict.NO_DIFFERENCE_SEEN}
    assert case.metrics[0].ratio == pytest.approx(2, rel=0.15)
    assert "not comparable" not in difference
    assert "slower" in difference
