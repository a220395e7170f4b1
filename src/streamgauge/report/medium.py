"""Where something is seen, and in what tone."""

from __future__ import annotations

from enum import StrEnum


class Medium(StrEnum):
    CONSOLE = "console"
    MARKDOWN = "markdown"
    PAGE = "page"


EVERYWHERE = frozenset(Medium)
ON_PAPER = frozenset({Medium.MARKDOWN, Medium.PAGE})
ON_PAGE = frozenset({Medium.PAGE})
ON_CONSOLE = frozenset({Medium.CONSOLE})


class Tone(StrEnum):
    """Whether something is good news. Good is said only of what was looked at."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    QUIET = "quiet"
