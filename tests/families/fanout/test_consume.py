"""Clients that only read, by hand."""

from __future__ import annotations

import socket
import subprocess
import time

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.core.clock import read_clocks
from streamgauge.families.fanout.consume import Heard
from streamgauge.families.fanout.stamps import stamp_text
from tests.cli.streamgauge_command import command, in_process, streamgauge


def test_latencies_are_counted_from_the_time_in_a_message() -> None:
    heard = Heard()
    now_ns = time.monotonic_ns()
    wall_ns = now_ns + read_clocks().wall_offset_ns
    for _ in range(3):
        heard(0, stamp_text(wall_ns - 5_000_000_000), now_ns)
    heard(0, "no time at all", now_ns)
    assert sum(heard.counts.values()) == 3
    assert 4_900 < min(heard.counts) <= max(heard.counts) < 30_000
    lines = heard.block()
    assert "Number of samples: 3" in lines
    assert lines[-1] == "1 updates had no time in them"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--duration", "0s"), "--duration 0s: must be above 0"),
        (("--every", "soon"), "--every"),
        (("--by", "chance"), "chance"),
    ],
)
def test_flags_that_make_no_sense(flags: tuple[str, ...], why: str) -> None:
    done = in_process("consume", "127.0.0.1:1", "t", "1", "base", *flags)
    assert done.returncode == 2
    assert why in done.stderr


@pytest.mark.broker
@pytest.mark.parametrize("by", ["groups", "standalone"])
def test_what_is_generated_comes_to_every_client(kafka: str, by: str) -> None:
    topic = f"test-consume-{by}"
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)
    reading = subprocess.Popen(
        command("consume", kafka, topic, "3", "complex", "--by", by, "--duration", "6s", "--every", "2s"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert reading.stderr is not None
    assert "3 clients read" in reading.stderr.readline()
    sent = in_process("generate", kafka, topic, "2", "50", "64", "complex", "--duration", "1s")
    assert "40 messages sent, 40 delivered" in sent.stdout, sent.stderr
    said, _ = reading.communicate(timeout=60)
    assert reading.returncode == 0
    assert said.count("Test Duration") >= 2, "a block while it runs, and one at the end"
    assert "Number of samples: 120" in said
    assert said.splitlines()[-1] == "120 updates to 3 clients"


@pytest.mark.broker
def test_a_topic_that_is_not_there_says_how_to_make_it(kafka: str) -> None:
    done = in_process("consume", kafka, "test-consume-nowhere", "1", "base", "--duration", "1s")
    assert done.returncode == 2
    assert "streamgauge topic create test-consume-nowhere" in done.stderr


def test_a_gateway_that_is_not_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    done = streamgauge("consume", f"http://127.0.0.1:{port}", "t", "1", "base", "--duration", "1s")
    assert done.returncode != 0
    assert str(port) in done.stderr
