"""Faults as a table, and as bands on the plots over time."""

from __future__ import annotations

from streamgauge.core.fault_figures import FaultFigures
from streamgauge.report.fault_show import fault_bands, fault_blocks
from streamgauge.report.medium import Tone
from streamgauge.report.shown import Note
from streamgauge.report.shown_tables import Table

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
    assert (named["duplicate"].value, named["duplicate"].tone) == (0, Tone.PLAIN)
    assert table.note is not None
    assert "12.50 ms" in table.note


def test_one_that_was_not_done_and_one_that_is_not_over_say_so() -> None:
    undone = FaultFigures(kind="broker_pause", target=None, problem="it is down already")
    lasting = KILL.model_copy(update={"is_recovered": False, "recover_s": None})

    _, table, problem = fault_blocks([undone, lasting])

    assert isinstance(table, Table)
    assert table.rows[0].cells[1].value == "nobody: not done"
    assert table.rows[1].cells[5].value == "not recovered"
    assert isinstance(problem, Note)
    assert "it is down already" in problem.text


def test_no_faults_no_words() -> None:
    assert fault_blocks([]) == []


def test_a_band_lasts_until_it_is_taken_back_or_to_the_end() -> None:
    lasting = KILL.model_copy(update={"ended_s": None})
    short = KILL.model_copy(update={"ended_s": 20.0})
    undone = FaultFigures(kind="broker_pause", target=None)

    bands = fault_bands([KILL, lasting, short, undone], 120.0)

    assert [(band.start, band.end) for band in bands] == [(20.0, 31.5), (20.0, 120.0), (20.0, 20.25)]
    assert "broker_kill broker-2" in bands[0].name
