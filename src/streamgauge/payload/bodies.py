"""What fills a message: bytes of the sizes asked for, random or as compressible as asked, or lines of a file.

Bodies are made once, before the clock starts, and used over and over: message k has body
k modulo their number. There are so many that none comes again within the reach of a codec:
a batch of repeated bodies would compress as no application's messages do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from streamgauge.core.errors import BadInput
from streamgauge.payload.header import HEADER_BYTES
from streamgauge.spec.load import FileLines, Message, SizeDistribution

_POOL_BYTES = 4 * 1024 * 1024
"""Bodies come again after so many bytes: zstd looks back over 2 MiB at its usual level, lz4 over 64 KiB."""
_LEAST_COUNT, _MOST_COUNT = 4096, 65_536
_DRAWN_COUNT = 16_384
_LIMIT_BYTES = 64 * 1024 * 1024

_HEADER_COST_BYTES = 18
"""What no codec can take from a value with a header: its checksum, what is new in its number and its due
time, and where the filler is told to be found."""
_FILLER_COST_BYTES = 4
_FILLER = bytes(range(0x21, 0x41))


def make_bodies(message: Message, rng: np.random.Generator) -> list[bytes]:
    """Bodies without the header; a value that carries the header is that much longer."""
    carried = HEADER_BYTES if message.carrier == "value" else 0
    if isinstance(message.size, FileLines):
        return _lines(Path(message.size.lines_of))
    if isinstance(message.size, SizeDistribution):
        sizes = _draw(message.size, rng)
    else:
        assert isinstance(message.size, int), "orders are no bodies"
        sizes = np.full(fixed_count(message.size), message.size)
    cost = _HEADER_COST_BYTES if carried else _FILLER_COST_BYTES
    random = sizes - carried
    if message.compressibility:
        wanted = np.rint(sizes / message.compressibility).astype(np.int64) - cost
        random = np.clip(wanted, 0, random)
    return _filled(random, sizes - carried, rng)


def fixed_count(size: int) -> int:
    """How many different bodies there are for messages of one size."""
    size = max(size, 1)
    least = min(_LEAST_COUNT, max(64, _LIMIT_BYTES // size))
    return int(np.clip(_POOL_BYTES // size, least, _MOST_COUNT))


def _filled(random: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> list[bytes]:
    """Bodies of these sizes: so many random bytes, and the same filler in all behind them."""
    drawn = rng.bytes(int(random.sum()))
    ends = np.cumsum(random).tolist()
    filler = _FILLER * (-(-int((sizes - random).max()) // len(_FILLER)))
    return [
        drawn[begin:end] + filler[: size - (end - begin)]
        for begin, end, size in zip([0, *ends], ends, sizes.tolist(), strict=False)
    ]


def _draw(size: SizeDistribution, rng: np.random.Generator) -> np.ndarray:
    count = int(np.clip(_LIMIT_BYTES // max(size.max, 1), 64, _DRAWN_COUNT))
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
