"""Runs whose truth is known: latencies as real ones are, alike from one to the next, with some pauses.

A level wanders (what the machine does otherwise comes and goes), messages scatter about it, and pauses hit
some dozens of messages in a row. A run has a level of its own besides, as real runs have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from streamgauge.comparing.blocks import Blocks, Floats, blocks_of

NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Noise:
    """Standard deviations are of logarithms."""

    scatter: float = 0.3
    """Of messages."""
    wander: float = 0.1
    """Of the level within a run."""
    alike_s: float = 0.5
    """For how long the level stays about the same."""
    pauses_per_s: float = 0.5
    pause_ms: float = 3.0
    """Their mean; each counts for every message that it delayed."""
    between: float = 0.0
    """Of the levels of runs."""


CALM = Noise()
RESTLESS = Noise(wander=0.2, alike_s=1.5, pauses_per_s=0.3, pause_ms=8.0)
EVEN = Noise(wander=0.0, pauses_per_s=0.0)


def drawn_latencies_ns(
    rng: np.random.Generator, median_ms: float, noise: Noise, rate: int = 1000, seconds: int = 30
) -> Floats:
    count = rate * seconds
    logs = rng.normal(0, noise.scatter, count) + rng.normal(0, noise.between)
    if noise.wander:
        kept = np.exp(-1 / (rate * noise.alike_s))
        steps = rng.normal(0, noise.wander * np.sqrt(1 - kept**2), count)
        steps[0] = rng.normal(0, noise.wander)
        logs += lfilter([1.0], [1.0, -kept], steps)
    latencies = np.exp(logs)
    for at in np.flatnonzero(rng.random(count) < noise.pauses_per_s / rate):
        # Whoever comes while it lasts waits for what is left of it.
        length = rng.exponential(noise.pause_ms)
        left = np.maximum(0, length - np.arange(count - at) * 1000 / rate)
        latencies[at:] += left
    scaled: Floats = np.rint(latencies * median_ms * 1e6)
    return scaled


def drawn_blocks(
    rng: np.random.Generator, median_ms: float, noise: Noise, rate: int = 1000, seconds: int = 30
) -> Blocks:
    latencies = drawn_latencies_ns(rng, median_ms, noise, rate, seconds).astype(np.int64)
    intended = np.arange(len(latencies), dtype=np.int64) * (NS_PER_S // rate)
    return blocks_of(latencies, intended, intended + latencies)
