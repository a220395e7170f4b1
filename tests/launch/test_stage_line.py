from __future__ import annotations

import io

import pytest
from rich.console import Console

from streamgauge.core.fetching import tell_fetching
from streamgauge.core.stages import Stage, Stages
from streamgauge.launch.stage_line import StageLine, fetching_shown


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


@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_has_to_be_fetched_is_a_stage_of_its_own_and_the_one_before_goes_on(is_terminal: bool) -> None:
    printed = io.StringIO()
    line = StageLine(Console(file=printed, force_terminal=is_terminal, width=100))
    stages = Stages(line, iter([0.0, 1.0, 5.0, 5.5]).__next__)
    stages.enter(Stage.STARTING_SYSTEM)
    with fetching_shown(stages, line):
        tell_fetching("jars: 0 of 2")
        tell_fetching("jars: 1 of 2")
        tell_fetching("jars: 2 of 2", is_over=True)
    tell_fetching("what nobody listens to any more")
    stages.end()
    assert stages.seconds() == {"fetching": 4.0, "starting_system": 1.5}
    if is_terminal:
        assert "fetching what is missing: jars: 2 of 2" in printed.getvalue()
    else:
        assert printed.getvalue().splitlines() == [
            "starting the system: 1.0 s",
            "fetching what is missing: 4.0 s",
            "starting the system: 0.5 s",
        ]
