"""What every page has in common: the bar on top, the way to what matters, and the look of a report."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from importlib import resources
from urllib.parse import quote

from streamgauge.report.markup import Markup, join, tag
from streamgauge.report.medium import Tone
from streamgauge.serve.requests import Answer
from streamgauge.serve.safety import CSRF_FIELD

STATIC = {
    "style.css": "text/css; charset=utf-8",
    "pages.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_AHEAD = {
    "style.css": ("streamgauge.report", "page.css"),
    "live.js": ("streamgauge.launch", "live_plot.js"),
}
"""What they share with pages that are not ours, and begin with."""
_PLACES = (("/", "Runs"), ("/compare", "Compare"), ("/start", "Start a run"))


def page(
    title: str,
    body: Iterable[object],
    *,
    here: str = "",
    script: str = "pages.js",
    status: HTTPStatus = HTTPStatus.OK,
    class_: str | None = None,
    is_bare: bool = False,
) -> Answer:
    """`here`: which place of the bar it is; `class_`: of what is shown, `broad` or `wide` where it takes
    more room; `is_bare`: for who may not see anything yet."""
    places = [
        tag("a", name, href=to, aria_current="page" if to == here else None)
        for to, name in (() if is_bare else _PLACES)
    ]
    bar = tag(
        "header",
        tag("a", Markup(_sign()), tag("span", "streamgauge"), class_="home", href="/"),
        tag("nav", *places, aria_label="Main") if places else None,
        class_="bar-top",
    )
    text = join(
        (
            Markup("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"),
            Markup('<meta name=viewport content="width=device-width, initial-scale=1">\n'),
            Markup('<meta name=color-scheme content="light dark">\n'),
            tag("title", f"{title} · streamgauge"),
            tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
            tag("link", rel="stylesheet", href="/static/style.css"),
            tag("script", src=f"/static/{script}", defer=True),
            Markup("\n</head>\n<body>\n"),
            tag("a", "Skip to the content", class_="skip", href="#content"),
            bar,
            tag("main", *body, id="content", tabindex="-1", class_=class_),
            Markup("\n</body>\n</html>\n"),
        )
    )
    return Answer(text.encode(), status)


def static(name: str) -> Answer | None:
    """One of our own files; of nothing else can anybody ask here."""
    return Answer(_content(name), content_type=STATIC[name]) if name in STATIC else None


def title(kicker: str, words: object, *beside: object) -> Markup:
    return tag("div", tag("p", kicker, class_="kicker"), tag("h1", words, *beside), class_="title")


def pill(text: str, tone: Tone | str) -> Markup:
    return tag("span", text, class_=f"pill {tone}")


def form(to: str, csrf: str, *parts: object, **attributes: object) -> Markup:
    hidden = tag("input", type="hidden", name_=CSRF_FIELD, value=csrf)
    return tag("form", hidden, *parts, method="post", action=to, **attributes)


def run_path(name: str, *more: str) -> str:
    return "/".join(("", "runs", *(quote(part, safe="") for part in (name, *more))))


def framed(address: str, words: str, sandbox: str, meanwhile: str) -> Markup:
    """A page of its own below, in a sandbox: its scripts draw plots, and reach nothing of ours."""
    frame = tag("iframe", src=address, title=words, sandbox=sandbox)
    return tag("div", tag("p", meanwhile, class_="note", aria_hidden="true"), frame, class_="report")


def message_page(heading: str, words: str, status: HTTPStatus, *, is_bare: bool = False) -> Answer:
    """For what went wrong: what, and where to go from here."""
    lines = [tag("p", line, class_="about") for line in words.splitlines()]
    back = tag("p", tag("a", "All runs", href="/"), class_="about")
    return page(heading, (title(f"{status.value}", heading), *lines, back), status=status, is_bare=is_bare)


def as_sentence(words: str) -> str:
    """What programs read as it is, for people. A name that words begin with stays as it is."""
    first, _, _ = words.partition(" ")
    begun = words[:1].upper() + words[1:] if first.isalpha() else words
    return begun if begun.endswith((".", "!", "?", "…")) or "\n" in begun else f"{begun}."


@cache
def _content(name: str) -> bytes:
    files = [*([_AHEAD[name]] if name in _AHEAD else []), ("streamgauge.serve", name)]
    return b"".join(resources.files(room).joinpath(file).read_bytes() for room, file in files)


@cache
def _sign() -> str:
    return _content("icon.svg").decode().replace("<svg ", '<svg aria-hidden="true" ', 1)
