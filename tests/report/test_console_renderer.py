from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.report.medium import Tone
from streamgauge.report.shown import Badge, Notes, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

from .sample_run import single_run
from .seen import console_text, shown


def test_fits_80_columns_and_has_no_control_codes(
    one_case: RunDir, sweep: RunDir, transports: RunDir
) -> None:
    for run in (one_case, sweep, transports):
        text = console_text(run)
        assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
        assert "\x1b" not in text
        assert "…" not in text


def test_says_all_figures_of_a_case(one_case: RunDir) -> None:
    text = " ".join(console_text(one_case).split())
    for part in (
        "integrity all accounted for validity valid",
        "− intended",
        "p99.9",
        "sent 26.00 s · acked 26.00 s",
        "sent 26,000 · acked 26,000",
        "lost-write 0",
        "4,000 warm-up messages are cut from every figure",
        "sent 1,000/s (683.6 KiB/s)",
        "producer 24.10 µs",
        "none found – the load was held: schedule lag p99 0.500 ms, busiest producer 0.60 cores",
        "below 0",
    ):
        assert part in text, part


def test_one_case_has_no_overview_and_several_have(one_case: RunDir, sweep: RunDir) -> None:
    assert "All cases" not in console_text(one_case)
    text = console_text(sweep)
    parts = (
        "All cases",
        "FAILED",
        "PARTIAL",
        "NOT RUN",
        "• 7 acked messages lost",
        "No message was measured.",
    )
    for part in parts:
        assert part in text


def test_colours_tell_good_from_bad(sweep: RunDir) -> None:
    text = console_text(sweep, colour=True)
    assert "\x1b[1;31mFAILED" in text
    assert "\x1b[1;31mlost-write 7" in text
    assert "\x1b[32mcorrupt 0" in text


def test_a_doubtful_figure_is_marked_and_dim(sweep: RunDir) -> None:
    assert "~10.83" in console_text(sweep, 120)
    assert "\x1b[2m~10.83" in console_text(sweep, 120, colour=True)


def test_names_are_not_read_as_rich_markup(one_case: RunDir) -> None:
    hostile = replace(
        shown(one_case),
        reason="[bold]closed[/bold] [/red]",
        sections=[Section("[red]x", [Notes(["[link=x]y[/link]"])])],
    )
    text = console_text(hostile)
    for part in ("[bold]closed[/bold] [/red]", "[red]x", "[link=x]y[/link]"):
        assert part in text


def test_without_consumers_receipt_is_not_judged(tmp_path: Path) -> None:
    text = " ".join(console_text(single_run(tmp_path / "run", consumers=0)).split())
    assert "receipt not checked: no consumers" in text
    assert "unseen" not in text


def test_spare_columns_go_first_where_there_is_no_room() -> None:
    columns = [Column("name"), Column("kept", Unit.COUNT), Column("spare" * 10, is_spare=True)]
    table = Table("A table", columns, [row("first", 1, "x" * 50), row("second", Cell(2, Tone.BAD), "y")])
    made = Shown("", "", "run", Badge("ok", Tone.GOOD), [], [], [Section("One", [table])])
    narrow, wide = console_text(made, 60), console_text(made, 120)
    assert "spare" not in narrow
    assert "spare" in wide
    for text in (narrow, wide):
        assert "second" in text
        assert "kept" in text
