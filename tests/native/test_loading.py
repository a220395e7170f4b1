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


WITHOUT = """
import sys

sys.modules["streamgauge.native._loops"] = None
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.native.loading import compiled_loops
from streamgauge.payload.making import MessageMaker
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target

settings = {"bootstrap": "127.0.0.1:1"}
driver = open_driver(Target(name="kafka", driver="kafka_confluent", settings=settings), {})
consumer = driver.consumer(ConsumerOptions(0, ("t",), "value", (), None, {}))
options = ProducerOptions(0, ("t",), "value", "1", "none")
producer = driver.paced_producer(options, MessageMaker(Message(size=64), 7, 0).ingredients())
print(compiled_loops(), consumer.column_reader(7), producer, consumer.settings_in_force()["loop"])
consumer.close()
"""


def test_where_they_were_not_built_python_does_it_and_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["None", "None", "None", "python"], done.stderr
