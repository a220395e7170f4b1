"""What was counted once is not counted again, and what is out of date is not used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from streamgauge.comparing import kept_blocks
from streamgauge.comparing.blocks import Blocks, Times, read_blocks
from streamgauge.comparing.kept_blocks import blocks_of_run
from streamgauge.core.run_dir import RunDir

from .simulated_pairs import simulated

RECEIVED, ACKED = Times("intended", "received", "received"), Times("intended", "acked", "acked")
BOTH = {"001": RECEIVED, "002": RECEIVED}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return simulated(tmp_path_factory.mktemp("made"), 1.0, 2.0, warm_up_messages=100, messages=1000)


@pytest.fixture
def run(made: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    monkeypatch.setattr(kept_blocks, "KEPT_FROM", 1000)
    shutil.copytree(made.local(), tmp_path / "run")
    return RunDir(str(tmp_path / "run"))


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for every time that messages were read."""
    seen: list[str] = []

    def counted(run: RunDir, times: dict[str, Times]) -> dict[str, Blocks]:
        seen.append(",".join(times))
        return read_blocks(run, times)

    monkeypatch.setattr(kept_blocks, "read_blocks", counted)
    return seen


def same(one: Blocks, other: Blocks) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("values_ns", "counts", "out_counts")
    )


def test_messages_are_read_once_and_what_is_kept_is_the_same(run: RunDir, readings: list[str]) -> None:
    first, second = blocks_of_run(run, BOTH), blocks_of_run(run, BOTH)
    assert readings == ["001,002"]
    assert list(first) == list(second) == ["001", "002"]
    assert all(same(first[case], second[case]) for case in BOTH)
    assert list(blocks_of_run(run, {"002": RECEIVED})) == ["002"]
    assert readings == ["001,002"], "one of those that were kept"


def test_messages_that_were_written_again_are_read_again(run: RunDir, readings: list[str]) -> None:
    blocks_of_run(run, BOTH)
    [file] = run.local("results/messages").rglob("*.parquet")
    os.utime(file, ns=(1, 1))
    blocks_of_run(run, BOTH)
    assert len(readings) == 2


def test_other_times_are_read_anew(run: RunDir, readings: list[str]) -> None:
    blocks_of_run(run, BOTH)
    blocks_of_run(run, {**BOTH, "002": ACKED})
    assert len(readings) == 2


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing more"])
def test_what_is_kept_and_cannot_be_read_is_made_anew(
    run: RunDir, readings: list[str], content: bytes
) -> None:
    run.write_bytes(run.kept_blocks, content)
    assert list(blocks_of_run(run, BOTH)) == ["001", "002"]
    assert list(blocks_of_run(run, BOTH)) == ["001", "002"]
    assert len(readings) == 1


def test_few_messages_leave_no_file(
    run: RunDir, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_blocks, "KEPT_FROM", 2001)
    blocks_of_run(run, BOTH)
    assert not run.has(run.kept_blocks)
