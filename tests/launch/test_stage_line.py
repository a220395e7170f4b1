from __future__ import annotations

import io

import pytest
from rich.console import Console

from streamgauge.core.stages import Stage, Stages
from streamgauge.launch.stage_line import StageLine


def through(console: Console, **shown: bool) -> None:
    line = StageLine(console, **shown)
    stages = Stages(line, iter([0.0, 3.0, 10.0, 10.5]).__next__)
    stages.enter(Stage.STARTING_SPARK)
    line.detail(Stage.STARTING_SPARK, "half of it")
    stages.enter(Stage.WARMING_UP)
    stages.enter(Stage.ANALYSING)
    stages.end()


@pytest.mark.parametrize(
    ("shows_cases", "lines"),
    [
        (True, ["starting Spark: 3.0 s", "warming up: 7.0 s", "analysing: 0.5 s"]),
        (False, ["starting Spark: 3.0 s", "analysing: 0.5 s"]),
    ],
)
def test_a_line_each_in_a_pipe(shows_cases: bool, lines: list[str]) -> None:
    printed = io.StringIO()
    through(Console(file=printed), shows_cases=shows_cases)
    assert printed.getvalue().splitlines() == lines


def test_a_live_line_on_a_terminal_that_leaves_the_case_its_own() -> None:
    printed = io.StringIO()
    through(Console(file=printed, force_terminal=True, width=100))
    assert "starting Spark: half of it" in printed.getvalue()
    assert "analysing" in printed.getvalue()
    assert "warming up" not in printed.getvalue()
    assert "3.0 s" not in printed.getvalue()


def test_nothing_when_quiet() -> None:
    for terminal in (True, False):
        printed = io.StringIO()
        through(Console(file=printed, force_terminal=terminal), is_shown=False)
        assert printed.getvalue() == ""
