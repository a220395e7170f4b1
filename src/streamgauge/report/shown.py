"""What there is to see of a run, as values: a family says what, and renderers say how.

No markup and no layout: a renderer knows its medium, and a family its figures. What only one medium has room
for says so (`where`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamgauge.report.medium import EVERYWHERE, ON_PAGE, ON_PAPER, Medium, Tone
from streamgauge.report.plot_parts import Figure
from streamgauge.report.shown_tables import Table


@dataclass(frozen=True)
class Figures:
    figures: Sequence[Figure]
    where: frozenset[Medium] = ON_PAGE


@dataclass(frozen=True)
class Link:
    """To a file beside the report."""

    text: str
    path: str


@dataclass(frozen=True)
class Note:
    text: str
    tone: Tone = Tone.QUIET
    where: frozenset[Medium] = EVERYWHERE
    links: Sequence[Link] = ()
    """To files that have what it tells of; on a page only."""


@dataclass(frozen=True)
class Notes:
    """Several of a kind."""

    items: Sequence[str]
    tone: Tone = Tone.QUIET
    where: frozenset[Medium] = EVERYWHERE


@dataclass(frozen=True)
class Tile:
    name: str
    text: str
    meaning: str
    tone: Tone = Tone.PLAIN
    is_checked: bool = True


@dataclass(frozen=True)
class Tiles:
    title: str
    tiles: Sequence[Tile]
    where: frozenset[Medium] = EVERYWHERE


@dataclass(frozen=True)
class Share:
    name: str
    count: int
    tone: Tone


@dataclass(frozen=True)
class Shares:
    """Parts of a whole."""

    words: str
    shares: Sequence[Share]
    where: frozenset[Medium] = ON_PAGE


@dataclass(frozen=True)
class Pairs:
    """Names and what is to be said of each, item by item."""

    pairs: Sequence[tuple[str, Sequence[str]]]
    where: frozenset[Medium] = EVERYWHERE


@dataclass(frozen=True)
class Lines:
    """Lines that stand as they are, under each other."""

    title: str
    lines: Sequence[str]
    where: frozenset[Medium] = EVERYWHERE


@dataclass(frozen=True)
class Heading:
    text: str
    where: frozenset[Medium] = ON_PAPER


Block = Table | Figures | Note | Notes | Tiles | Shares | Pairs | Lines | Heading


@dataclass(frozen=True)
class Badge:
    """A verdict in a word or two."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]
    id: str | None = None
    subtitle: str | None = None
    badges: Sequence[Badge] = ()
    is_open: bool | None = None
    """None: it cannot be folded."""
    where: frozenset[Medium] = EVERYWHERE


@dataclass(frozen=True)
class Fact:
    """A figure of the headline."""

    title: str
    figure: str
    unit: str = ""
    lines: Sequence[str] = ()
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Verdict:
    """One of the two verdicts on the whole run, with why and what to do."""

    name: str
    words: str
    tone: Tone
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Said:
    """The answer to what a run was made to find out, in a sentence."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class Shown:
    """All there is to see of a run."""

    kicker: str
    title: str
    run: str
    badge: Badge
    verdicts: Sequence[Verdict]
    facts: Sequence[Fact]
    sections: Sequence[Section]
    about: Sequence[str] = ()
    reason: str | None = None
    reading: Sequence[str] = ()
    """How to read it, a paragraph each."""
    answer: Said | None = None
    since: Said | None = None
    """What is different from the run before."""
    origin: Sequence[tuple[str, str]] = ()
    """Who ran it, where, when, how long, against what."""
    links: Sequence[Link] = ()
    files: Mapping[str, Callable[[], str | bytes]] = field(default_factory=dict)
    """Beside the report: name below its folder → content, made when it is written."""


def blocks_for(medium: Medium, blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if medium in block.where]
