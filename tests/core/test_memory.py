from __future__ import annotations

import subprocess
import sys

import psutil

from streamgauge.core.memory import TreeWatch, peak_rss_bytes

MIB = 2**20
TAKES = "x = bytearray(b'x') * (64 * 2**20); print('there', flush=True); input()"


def test_the_most_stays_known_when_it_is_given_back() -> None:
    taken = bytearray(b"x") * (64 * MIB)
    most = peak_rss_bytes()
    assert most >= len(taken)
    del taken
    assert peak_rss_bytes() > most - 8 * MIB, "the kernel counts in steps"


def test_what_children_have_counts_and_stays_known_when_they_are_gone() -> None:
    with TreeWatch() as watch:
        before = watch.peak_bytes
        with subprocess.Popen(
            [sys.executable, "-c", TAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "there\n"
            watch._look()
            child.communicate("\n")
    assert before >= psutil.Process().memory_info().rss // 2
    assert watch.peak_bytes >= before // 2 + 64 * MIB
