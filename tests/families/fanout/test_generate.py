from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.families.fanout.generate import Mode, _Wanted
from tests.cli.streamgauge_command import in_process


@pytest.mark.broker
def test_sends_what_it_says(kafka: str) -> None:
    topic = "test-generate"
    admin = AdminClient({"bootstrap.servers": kafka})  # Kept: without it the request is given up.
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    done = in_process("generate", kafka, topic, "3", "20", "64", "complex", "--duration", "1s")
    assert done.returncode == 0, done.stderr
    assert "150 messages sent, 150 delivered" in done.stdout
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "test"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    records: list[Any] = []
    while len(records) < 150 and (found := consumer.consume(150 - len(records), 10)):
        records += found
    consumer.close()
    people = [json.loads(record.value()) for record in records]
    assert len(people) == 150
    assert all(record.key().decode() == person["id"] for record, person in zip(records, people, strict=True))


def test_flags_and_the_older_form_want_the_same() -> None:
    older = _Wanted.of_older(["10", "100", "1KiB", "complex"])
    assert older == _Wanted.of_flags(10, "100/s", "1KiB", Mode.complex)
    assert _Wanted.of_flags(None, None, None, None) == _Wanted.of_older(["2", "500", "1024", "base"])


@pytest.mark.broker
def test_a_topic_that_is_not_there(kafka: str) -> None:
    done = in_process("generate", kafka, "test-generate-nowhere", "1", "20", "64", "base", "--duration", "1s")
    assert done.returncode == 2
    assert "there is no topic test-generate-nowhere" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["127.0.0.1:1", "t", "1", "0", "10", "base"], "PAUSE_MS 0"),
        (["127.0.0.1:1", "t", "1", "10", "much", "base"], "'much'"),
        (["127.0.0.1:1", "t", "1", "10", "2", "base"], "at least 4"),
        (["127.0.0.1:1", "t", "1", "10", "64"], "PRODUCERS PAUSE_MS SIZE KIND"),
        (["127.0.0.1:1", "t", "1", "10", "64", "other"], "no kind of messages; allowed: base, keyed"),
        (
            ["127.0.0.1:1", "t", "1", "10", "64", "base", "--rate", "5"],
            "--rate: is also given without a name",
        ),
        (["127.0.0.1:1", "t", "--rate", "0"], "--rate 0"),
        (["127.0.0.1:1", "t", "--size", "2"], "at least 4"),
    ],
)
def test_bad_input(arguments: list[str], words: str) -> None:
    done = in_process("generate", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
