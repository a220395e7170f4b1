"""Runs against runs: any of them, chosen here, with the page of `streamgauge diff` below."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import urlencode

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.report.markup import Markup, tag
from streamgauge.serve.frame import framed, page, title
from streamgauge.serve.requests import Answer, Refused
from streamgauge.serve.run_list import Row
from streamgauge.serve.safety import REPORT_POLICY

MOST_RUNS = 8


def compare_page(rows: Sequence[Row], chosen: Sequence[str]) -> Answer:
    """`chosen`: names, the base first; fewer than two: there is nothing to compare yet."""
    names = [row.listed.run.id for row in rows if not row.is_running]
    base, others = (chosen[0], list(chosen[1:])) if chosen else ("", [])
    body: list[object] = [title("Compare", "Compare runs"), _choice(names, base, others)]
    if len(chosen) > 1:
        query = urlencode({"run": chosen}, doseq=True)
        words = f"Differences between {base} and {', '.join(others)}"
        body.append(framed(f"/compare/page?{query}", words, "allow-scripts", "Comparing the runs …"))
    else:
        words = "Choose a base, and one or more runs to compare with it. "
        rest = "Ratios come with intervals. There is no verdict where figures may not be quoted."
        body.append(tag("p", words, rest, class_="about empty"))
    return page("Compare", body, here="/compare", class_="wide" if len(chosen) > 1 else None)


def _choice(names: Sequence[str], base: str, others: Sequence[str]) -> Markup:
    """Two lists and a button; nothing here needs a script."""
    first = [tag("option", name, value=name, selected=name == base or None) for name in names]
    second = [tag("option", name, value=name, selected=name in others or None) for name in names]
    size = min(6, max(2, len(names)))
    return tag(
        "form",
        tag(
            "div",
            tag("label", "Base", for_="base"),
            tag("select", *first, id="base", name_="run"),
            class_="field",
        ),
        tag(
            "div",
            tag("label", "Compare with (several with Ctrl or Shift)", for_="others"),
            tag("select", *second, id="others", name_="run", multiple=True, size=str(size), required=True),
            class_="field grows",
        ),
        tag("button", "Compare", type="submit"),
        action="/compare",
        method="get",
        class_="row choice-of-runs",
    )


def difference(runs: Sequence[RunDir]) -> Answer:
    """The page of `streamgauge diff BASE NEW…`."""
    # Here and not at the top: it loads all of the statistics and the plotting.
    from streamgauge.comparing.differences import diff_document
    from streamgauge.comparing.measured import measured_run
    from streamgauge.comparing.show import show_diff
    from streamgauge.report.page_renderer import render_page

    try:
        base, *new = ([measured_run(run)] for run in runs)
        text = render_page(show_diff(diff_document(base, new)), None)
    except StreamgaugeError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"these runs cannot be compared: {error}") from None
    return Answer(text.encode(), headers=(("Content-Security-Policy", REPORT_POLICY),))
