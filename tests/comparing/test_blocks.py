from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streamgauge.comparing.blocks import BLOCKS, Times, blocks_of, read_blocks
from streamgauge.core.errors import CorruptRun

from .simulated_pairs import simulated

RECEIVED = Times("intended", "received", "received")


def test_every_message_is_in_one_block_by_its_time() -> None:
    intended = np.arange(1200, dtype=np.int64) * 1_000_000
    latencies = np.full(1200, 5_000_000, np.int64)
    latencies[100:200] = 9_000_000
    found = blocks_of(latencies, intended, intended + latencies)
    assert found.sums.tolist() == [100] * BLOCKS
    assert found.counts.sum() == found.reached[-1] == 1200
    assert found.values_ns == pytest.approx([5e6, 9e6], rel=3e-4)
    assert found.counts[:, 1].tolist() == [0, 100, *[0] * (BLOCKS - 2)]
    assert found.out_counts.sum() == 1200


def test_values_that_are_not_above_zero_are_kept() -> None:
    latencies = np.array([-5, 0, 7], np.int64)
    found = blocks_of(latencies, np.arange(3, dtype=np.int64), np.arange(3, dtype=np.int64))
    assert found.values_ns[0] == 0
    assert found.reached.tolist() == [2, 3]


def test_messages_of_a_run_are_read_case_by_case_without_the_warm_up(tmp_path: Path) -> None:
    run = simulated(tmp_path, 1.0, 2.0, warm_up_messages=500, messages=2000)
    found = read_blocks(run, {"001": RECEIVED, "002": RECEIVED})
    assert {case: int(blocks.reached[-1]) for case, blocks in found.items()} == {"001": 2000, "002": 2000}
    medians = {
        case: blocks.values_ns[np.searchsorted(blocks.reached, 1000)] for case, blocks in found.items()
    }
    assert medians["002"] / medians["001"] == pytest.approx(2, rel=0.1)
    assert list(read_blocks(run, {"002": RECEIVED})) == ["002"], "nobody asked for the other"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    run = simulated(tmp_path, 1.0)
    [file] = run.local("results/messages").rglob("*.parquet")
    file.write_bytes(b"no Parquet")
    with pytest.raises(CorruptRun, match=r"messages.*streamgauge analyze"):
        read_blocks(run, {"001": RECEIVED})
