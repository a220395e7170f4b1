"""Faults as a table, and as bands on the plots over time."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from streamgauge.core.fault_figures import FaultEffects, FaultFigures
from streamgauge.report.fault_show import fault_bands, fault_blocks
from streamgauge.report.medium import Tone
from streamgauge.report.page_frame import filled_page, place_figures
from streamgauge.report.plot_parts import Axis, Figure, NumberText, Plot, Series, Style
from streamgauge.report.shown import Note
from streamgauge.report.shown_tables import Table

from .chromium import Chromium

KILL = FaultFigures(
    kind="broker_kill",
    target="broker-2",
    began_s=20.0,
    ended_s=31.5,
    late_over_ms=12.5,
    detect_s=0.5,
    recover_s=9.25,
    late_count=46_000,
    longest_ms=9100.0,
    lost_count=3,
    unanswered_count=7,
    later_count=2,
    redelivered_count=5,
)


def test_every_fault_is_a_row_and_a_loss_is_bad() -> None:
    _, table = fault_blocks([KILL])

    assert isinstance(table, Table)
    [told] = table.rows
    named = dict(zip([column.name for column in table.columns], told.cells, strict=True))
    assert (named["fault"].value, named["of"].value, named["recover"].value) == (
        "broker_kill",
        "broker-2",
        9.25,
    )
    assert (named["lost"].value, named["lost"].tone) == (3, Tone.BAD)
    assert (named["unanswered"].value, named["unanswered"].tone) == (7, Tone.BAD)
    assert (named["later"].value, named["later"].tone) == (2, Tone.WARN)
    assert (named["duplicate"].value, named["duplicate"].tone) == (0, Tone.PLAIN)
    assert (named["redelivered"].value, named["redelivered"].tone) == (5, Tone.WARN)
    assert table.note is not None
    assert "12.50 ms" in table.note


def test_one_that_was_not_done_and_one_that_is_not_over_say_so() -> None:
    undone = FaultFigures(kind="broker_pause", target=None, problem="it is down already")
    lasting = KILL.model_copy(update={"is_recovered": False, "recover_s": None})

    _, table, problem = fault_blocks([undone, lasting])

    assert isinstance(table, Table)
    assert table.rows[0].cells[1].value == "none: not done"
    assert table.rows[1].cells[5].value == "not recovered"
    assert isinstance(problem, Note)
    assert "it is down already" in problem.text


def test_what_a_fault_did_is_said_where_something_is_known() -> None:
    full = KILL.model_copy(update={"effects": FaultEffects(refused_count=4, down_after_s=0.75)})
    slow = KILL.model_copy(update={"effects": FaultEffects(delayed_count=1200)})

    _, table = fault_blocks([full, slow, KILL])

    assert isinstance(table, Table)
    assert table.columns[-1].name == "effect"
    said = [told.cells[-1].value for told in table.rows]
    assert said == ["4 writes refused, down after 0.750 s", "1,200 writes delayed", ""]


def test_no_faults_no_words() -> None:
    assert fault_blocks([]) == []


def test_a_band_lasts_until_it_is_taken_back_or_to_the_end() -> None:
    lasting = KILL.model_copy(update={"ended_s": None})
    short = KILL.model_copy(update={"ended_s": 20.0})
    undone = FaultFigures(kind="broker_pause", target=None)
    refused = FaultFigures(kind="broker_pause", target=None, began_s=40.0, problem="it is down already")

    bands = fault_bands([KILL, lasting, short, undone, refused], 120.0)

    ends = [(band.start, band.end) for band in bands]
    assert ends == [(20.0, 31.5), (20.0, 120.0), (20.0, 20.25), (40.0, 40.25)]
    assert "broker_kill broker-2" in bands[0].name


@pytest.mark.browser
def test_the_names_of_faults_that_are_close_together_do_not_lie_on_each_other(
    browser: Chromium, tmp_path: Path
) -> None:
    faults = [
        KILL.model_copy(update={"began_s": began, "ended_s": began + 2}) for began in (5, 8, 40, 55, 56)
    ]
    line = Series("p50", [0, 60], [1, 2], Style(0), "line", NumberText("up to", 3, "ms"))
    plot = Plot("t", [line], Axis("s"), Axis("ms"), bands=fault_bands(faults, 60))
    figures: dict[str, Figure] = {}
    page = tmp_path / "page.html"
    page.write_text(filled_page("t", [place_figures(figures, "t", [plot])], figures, ""))

    browser.open(page, 900, 700)
    browser.wait_for("document.querySelectorAll('.band-name').length == 5")
    names = browser.evaluate(
        "[...document.querySelectorAll('.band-name')].map(e => e.getBoundingClientRect())"
        ".map(b => [b.left, b.right, b.top, b.bottom])"
    )

    for one, other in combinations(names, 2):
        apart = one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] + 2 or other[3] <= one[2] + 2
        assert apart, (one, other)
    assert len({name[2] for name in names}) < 5, "where there is room, a name stands in the first row"
