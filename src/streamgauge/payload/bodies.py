"""What fills a message: random bytes of the sizes asked for, or the lines of a file.

Bodies are made once, before the clock starts, and used over and over: message k has body
k modulo their number.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from streamgauge.core.errors import BadInput
from streamgauge.payload.header import HEADER_BYTES
from streamgauge.spec.load import FileLines, Message, SizeDistribution

BODY_COUNT = 1024
"""Different bodies for messages of one fixed size."""
_DRAWN_COUNT = 16384
_DRAWN_LIMIT_BYTES = 64 * 1024 * 1024


def make_bodies(message: Message, rng: np.random.Generator) -> list[bytes]:
    """Bodies without the header; a value that carries the header is that much longer."""
    carried = HEADER_BYTES if message.carrier == "value" else 0
    if isinstance(message.size, FileLines):
        return _lines(Path(message.size.lines_of))
    if isinstance(message.size, SizeDistribution):
        return _random_bodies(_draw(message.size, rng) - carried, rng)
    assert isinstance(message.size, int), "orders are no bodies"
    return _random_bodies(np.full(BODY_COUNT, message.size - carried), rng)


def _random_bodies(sizes: np.ndarray, rng: np.random.Generator) -> list[bytes]:
    return [rng.bytes(int(size)) for size in sizes]


def _draw(size: SizeDistribution, rng: np.random.Generator) -> np.ndarray:
    count = int(np.clip(_DRAWN_LIMIT_BYTES // max(size.max, 1), 64, _DRAWN_COUNT))
    if size.distribution == "uniform":
        return rng.integers(size.min, size.max, count, endpoint=True)
    mean, sd = float(size.mean or 0), float(size.sd or 0)
    if size.distribution == "normal":
        drawn = rng.normal(mean, sd, count)
    else:
        # Of the logarithm, such that the sizes themselves have the mean and SD asked for.
        variance = np.log1p((sd / mean) ** 2)
        drawn = rng.lognormal(np.log(mean) - variance / 2, np.sqrt(variance), count)
    return np.clip(np.rint(drawn), size.min, size.max).astype(np.int64)


def _lines(path: Path) -> list[bytes]:
    try:
        lines = [line.rstrip(b"\r") for line in path.read_bytes().split(b"\n")]
    except OSError as error:
        raise BadInput(f"load.message.size.lines_of: {path}: {error.strerror or error}") from None
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise BadInput(f"load.message.size.lines_of: {path}: has no lines")
    return lines
