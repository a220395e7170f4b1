from __future__ import annotations

import subprocess
import sys

import pytest

from streamgauge.native import loading
from tests.native.played_librdkafka import COMPILES


@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_where_they_can_be_built_they_are_there() -> None:
    # They are optional, so a build that fails says nothing: without this, all would go on, only slower.
    assert loading.compiled_loops() is not None


def test_a_build_that_is_older_than_its_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "INTERFACE", 1_000_000)
    assert loading.compiled_loops() is None


def test_where_bytes_lie_the_other_way_round_they_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "byteorder", "big")
    assert loading.compiled_loops() is None


def test_where_they_were_not_built_there_are_none() -> None:
    program = (
        "import sys; sys.modules['streamgauge.native._loops'] = None; "
        "from streamgauge.native.loading import compiled_loops; "
        "from streamgauge.drivers.kafka.confluent.batches import available; "
        "print(compiled_loops(), available())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["None", "False"]
