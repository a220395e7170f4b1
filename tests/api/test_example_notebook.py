"""The example notebook does what it says. It runs something: apart from tests with a session of Spark."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


@pytest.mark.spark
@pytest.mark.usefixtures("no_session")
def test_the_example_notebook_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cell after cell, as a person would; the last value of a cell is shown as a notebook shows it."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    names: dict[str, Any] = {}
    pages = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *before, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(before, []), "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
                pages.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
            else:
                exec(compile(ast.Module([last], []), "cell", "exec"), names)
    run = names["run"]
    assert run.latency.p50 == pytest.approx(3, rel=0.1)
    assert run.tags == ["first"]
    assert any("Integrity: all accounted for" in page for page in pages)
    # Where the machine was too busy, the figures may not be quoted, and no verdict is given.
    assert any("slower" in page or "not comparable" in page for page in pages)
