"""A comparison as Markdown: verdicts, the ratios of mean and SD, and every figure of every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from streamgauge.report.comparison_console import by_matrix
from streamgauge.report.comparison_words import (
    LEGEND,
    OPERATION_NAMES,
    TEMPERATURE_MEANINGS,
    bytes_text,
    cell_text,
    interval_text,
    library_text,
    p_text,
    percent_text,
    place_text,
    verdict_mark,
    verdict_text,
)
from streamgauge.report.old_shape import Document
from streamgauge.report.quantities import NOTHING, count_text, digits_text

_STATISTICS = ("max", "min", "mean", "sd", "cv", "median")


def comparison_markdown(document: Document) -> str:
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    conditions, rows = document["comparison"], document["comparisons"]
    yield f"# {_plain(library_text(conditions['a']))} against {_plain(library_text(conditions['b']))}"
    yield ""
    yield f"Run `{document['run']}`, {document['status']}." + (
        f" {_plain(document['reason'])}" if document["reason"] else ""
    )
    yield ""
    yield f"{LEGEND} {conditions['repeat']} repetitions, preset {conditions['preset']}."
    yield ""
    for note in conditions["notes"]:
        yield f"- **{_plain(note)}**"
    for operation, temperature, found in by_matrix(rows):
        yield ""
        yield f"## {OPERATION_NAMES[operation]}, {temperature}"
        yield ""
        yield f"{TEMPERATURE_MEANINGS[temperature].capitalize()}."
        yield ""
        yield from _matrix("A/B, median % [95%]", conditions, found, _ratio_cell)
        yield ""
        yield from _matrix("A/B, mean % (SD %)", conditions, found, _mean_cell)
        yield ""
        yield from _figures(conditions, list(found.values()))
    yield from _remarks(rows)
    yield from _settings(conditions)


def _matrix(
    title: str,
    conditions: Document,
    found: dict[tuple[int, int], Document],
    cell: Callable[[Document], str],
) -> Iterator[str]:
    lengths = conditions["lengths"]
    rows = []
    for messages in conditions["message_counts"]:
        cells = [found.get((messages, length)) for length in lengths]
        rows.append([f"{count_text(messages)} messages", *(cell(row) if row else NOTHING for row in cells)])
    return _table([title, *map(bytes_text, lengths)], rows)


def _ratio_cell(row: Document) -> str:
    ratio = f"{percent_text(row['ratio_percent']['median'])} [{interval_text(row['interval_percent'])}]"
    return f"{ratio} {verdict_mark(row)}"


def _mean_cell(row: Document) -> str:
    """Bold where A is better, as the benchmark that this follows prints it."""
    ratios = row["ratio_percent"]
    text = f"{percent_text(ratios['mean'])} ({percent_text(ratios['sd'])})"
    return f"**{text}**" if ratios["mean"] is not None and ratios["mean"] < 100 else text


def _figures(conditions: Document, rows: list[Document]) -> Iterator[str]:
    header = ["cell", "", *(name.upper() if len(name) == 2 else name for name in _STATISTICS)]
    header += ["CPU µs/msg", "JNI calls/msg", "p (Holm)", "verdict"]
    lines = []
    for row in rows:
        for side in ("a", "b"):
            calls = row["jni_calls_per_message"][side]
            lines.append(
                [
                    cell_text(row) if side == "a" else "",
                    f"{_plain(conditions[side]['name'])}, µs",
                    *(_statistic(row[side], name) for name in _STATISTICS),
                    digits_text(row["cpu_us_per_message"][side]),
                    NOTHING if calls is None else digits_text(calls),
                    "",
                    "",
                ]
            )
        ratios = [percent_text(row["ratio_percent"][name]) for name in _STATISTICS]
        said = _plain(verdict_text(row, conditions))
        lines.append(["", "A/B, %", *ratios, "", "", p_text(row["p"]), said])
    return _table(header, lines)


def _statistic(times: Document, name: str) -> str:
    if name == "cv":
        return NOTHING if times["cv_percent"] is None else f"{percent_text(times['cv_percent'])}%"
    return digits_text(times[f"{name}_us"])


def _remarks(rows: list[Document]) -> Iterator[str]:
    said = [(place_text(row), line) for row in rows for line in (*row["reasons"], *row["warnings"])]
    if said:
        yield ""
        yield "## To beware of"
        yield ""
        for place, line in said:
            yield f"- {place}: {_plain(line)}"


def _settings(conditions: Document) -> Iterator[str]:
    shared = [setting for setting in conditions["settings"] if setting["is_shared"]]
    if shared:
        yield ""
        yield "## Settings in force"
        yield ""
        rows = [
            [f"{s['name']}, {s['role']}", *(_plain(setting_text(s[side])) for side in ("a", "b"))]
            for s in shared
        ]
        yield from _table(["setting", conditions["a"]["name"], conditions["b"]["name"]], rows)


def setting_text(found: Document | None) -> str:
    """What was in force in one library, by its own name; or that it has no such thing."""
    if found is None:
        return NOTHING
    if found["native"] is None:
        return f"no equivalent: {found['note']}" if found["note"] else "no equivalent"
    value = "left to the system" if found["value"] is None else found["value"]
    note = f"; {found['note']}" if found["note"] else ""
    return f"{value} ({found['native']}{note})"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(header)
    yield f"| {' | '.join(names)} |"
    yield f"|{' --- |' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _plain(text: str) -> str:
    """Nothing that a reader of Markdown would take for markup."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
