"""The gallery on a page, on a console, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.gallery.exhibits import Exhibit
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, Style
from streamgauge.report.quantities import digits_text, plural
from streamgauge.report.shown import Badge, Figures, Pairs, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

_READING = (
    "This is one run on a simulated broker, so the true figures are known: latency is about 2 ms, the first "
    "second is slow, the broker stalls once for 1.5 s, one message in 20 is lost, and one in 50 arrives "
    "twice. Each row measures the same messages with one fault, and shows what would have been "
    "reported. The true figure is the one that streamgauge reports for this run; a test checks it against "
    "the laws of the simulation.",
)


def show_gallery(exhibits: Sequence[Exhibit], run: str) -> Shown:
    return Shown(
        kicker="streamgauge gallery",
        title="How to measure wrongly",
        run=run,
        badge=Badge(plural(len(exhibits), "fault"), Tone.QUIET),
        verdicts=[],
        facts=[],
        sections=[
            Section("Wrong beside true", [_table(exhibits), Figures([_figure(exhibits)])]),
            Section(
                "What is done wrong, and what to do instead", [Pairs([_words(each) for each in exhibits])]
            ),
        ],
        about=["one run, measured in many ways"],
        reading=_READING,
    )


def _table(exhibits: Sequence[Exhibit]) -> Table:
    columns = [
        Column("fault"),
        Column("figure"),
        Column("reported", Unit.NUMBER),
        Column("true", Unit.NUMBER),
        Column("unit"),
        Column("off ×", Unit.NUMBER),
        Column("source", is_spare=True),
    ]
    rows = [
        row(
            each.name,
            each.figure,
            Cell(digits_text(each.wrong), Tone.BAD),
            Cell(digits_text(each.true), Tone.GOOD),
            each.unit,
            digits_text(each.factor),
            each.seen_in,
        )
        for each in exhibits
    ]
    return Table("The same messages", columns, rows, name="gallery")


def _figure(exhibits: Sequence[Exhibit]) -> Plot:
    names = [each.name for each in exhibits]
    bars = Series(
        "reported to true",
        names,
        [each.wrong / each.true if each.true else None for each in exhibits],
        Style("bad"),
        mark="points",
        told=NumberText("figures", 3, "×"),
    )
    return Plot(
        "Reported over true (1: correct)",
        [bars],
        Axis(scale="names"),
        Axis("×", "log"),
    )


def _words(exhibit: Exhibit) -> tuple[str, list[str]]:
    return exhibit.name, [exhibit.what, f"Here: {exhibit.instead}"]
