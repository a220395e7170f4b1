from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.report.console import print_results

from .old_document import results_document
from .sample_run import single_run


def _text(run: RunDir, width: int = 80, colour: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    print_results(results_document(run), console)
    return file.getvalue()


def test_fits_80_columns_and_has_no_control_codes(one_case: RunDir, sweep: RunDir) -> None:
    for run in (one_case, sweep):
        text = _text(run)
        assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
        assert "\x1b" not in text
        assert "…" not in text


def test_says_all_figures_of_a_case(one_case: RunDir) -> None:
    text = " ".join(_text(one_case).split())
    for part in (
        "− intended",
        "p99.9",
        "sent 26.00 s · published 26.00 s",
        "sent 26,000 · acked 26,000",
        "lost-write 0",
        "4,000 warm-up messages are cut from every figure",
        "sent 1,000/s (683.6 KiB/s)",
        "producer 24.10 µs",
        "none found – no process used more than 0.6 of its 2 cores",
    ):
        assert part in text, part


def test_one_case_has_no_overview_and_several_have(one_case: RunDir, sweep: RunDir) -> None:
    assert "Overview" not in _text(one_case)
    text = _text(sweep)
    assert "Overview" in text
    for part in ("FAILED", "PARTIAL", "NOT RUN", "• 7 lost-write", "No message was measured."):
        assert part in text


def test_negative_latencies_get_a_row(one_case: RunDir) -> None:
    assert "below 0" in _text(one_case)


def test_colours_tell_good_from_bad(sweep: RunDir) -> None:
    text = _text(sweep, colour=True)
    assert "\x1b[1;31mFAILED" in text
    assert "\x1b[1;31mlost-write 7" in text
    assert "\x1b[32mcorrupt 0" in text


def test_names_are_not_read_as_rich_markup(one_case: RunDir) -> None:
    document = results_document(one_case)
    document["reason"] = "[bold]closed[/bold] [/red]"
    document["cases"][0]["reasons"] = ["[link=x]y[/link]"]
    file = io.StringIO()
    print_results(document, Console(file=file, width=80))
    assert "[bold]closed[/bold] [/red]" in file.getvalue()
    assert "[link=x]y[/link]" in file.getvalue()


def test_without_consumers_receipt_is_not_judged(tmp_path: Path) -> None:
    text = " ".join(_text(single_run(tmp_path / "run", consumers=0)).split())
    assert "receipt not checked: no consumers" in text
    assert "unseen" not in text
