from __future__ import annotations

import platform
import uuid
from typing import Any

import confluent_kafka
import pytest

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.contract import ConsumerOptions, Driver, Producer, ProducerOptions
from streamgauge.drivers.engine import jvm_driver
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.testing.kafka_suite import KafkaSuite
from streamgauge.testing.wired import consume_all, produce_all
from tests.jvm.fresh_python import NO_JAVA_INSTALLED, run_fresh

PRODUCE_AND_CONSUME = """
import sys
from streamgauge.core.errors import StreamgaugeError
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

bootstrap, topic, crossing, *options = sys.argv[1:]
settings = {"bootstrap": bootstrap, "crossing": crossing, "java_options": tuple(options)}
driver = open_driver(Target(name="j", driver="kafka_java", settings=settings), {})
driver.prepare_topics(Topics(name=topic), (topic,))
try:
    producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
except StreamgaugeError as error:
    print(type(error).__name__, error)
    sys.exit(7)
producer.send(Outgoing(0, [b"x"] * 500, ordinal_keys(0, 500), None), 0)
producer.flush_soon()
while producer.outstanding():
    producer.poll(1)
consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", ((0, 0),), None, {}))
got = 0
while got < 500:
    received = consumer.poll(1)
    got += len(received) if received is not None else 0
import jpype
print(got, jpype.JClass("java.lang.System").getProperty("java.version"))
"""


@pytest.mark.broker
class TestBatches(KafkaSuite):
    driver_name = "kafka_java"
    settings = {"crossing": "batch"}
    native_linger = "linger.ms"
    native_unknown = "no.such.setting"

    def test_more_than_fits_into_the_first_buffers_goes_through(self, driver: Driver, topic: str) -> None:
        driver.prepare_topics(Topics(name=topic), (topic,))
        values = [bytes([number]) * (number * 20_000) for number in range(40)]
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        produce_all(producer, Outgoing(0, values, ordinal_keys(0, 40), None))
        producer.close()
        consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", ((0, 0),), None, {}))
        got = consume_all(consumer, 40)
        consumer.close()
        assert got.values == values
        assert got.carried == ordinal_keys(0, 40)
        driver.remove_topics([topic])

    def test_a_buffer_that_is_full_takes_the_rest_later(self, kafka: str, topic: str) -> None:
        target = self.target_at(kafka, producer_client={"buffer.memory": 65_536, "batch.size": 4096})
        driver = open_driver(target, {})
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        batch = Outgoing(0, [b"x" * 1000] * 300, ordinal_keys(0, 300), None)
        assert producer.send(batch, 0) == 32
        told = produce_all(producer, batch.rest(32))
        assert sorted(s for acks in told for s in acks.sequences.tolist()) == list(range(300))
        producer.close()
        driver.remove_topics([topic])


@pytest.mark.broker
class TestRecords(KafkaSuite):
    driver_name = "kafka_java"
    settings = {"crossing": "record"}
    native_linger = "linger.ms"
    native_unknown = "no.such.setting"


def java_target(kafka: str, **settings: Any) -> Target:
    return Target(name="j", driver="kafka_java", settings={"bootstrap": kafka, **settings})


def counted(
    kafka: str, crossing: str, messages: int, **settings: Any
) -> tuple[dict[str, int], dict[str, int]]:
    """What a producer and a consumer counted for so many messages, in batches of a thousand."""
    driver, topic = (
        open_driver(java_target(kafka, crossing=crossing, **settings), {}),
        f"c-{uuid.uuid4().hex[:8]}",
    )
    driver.prepare_topics(Topics(name=topic), (topic,))
    producer: Producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
    for first in range(0, messages, 1000):
        assert producer.send(Outgoing(first, [b"x" * 10] * 1000, ordinal_keys(first, 1000), None), 0) == 1000
    while producer.outstanding():
        producer.poll(1)
    consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", (), None, {}))
    consumer.assign({(0, 0): 0})
    consume_all(consumer, messages)
    counts = producer.counters(), consumer.counters()
    producer.close()
    consumer.close()
    driver.remove_topics([topic])
    return counts


@pytest.mark.broker
def test_record_by_record_has_so_many_crossings_a_message(kafka: str) -> None:
    """Two arrays, a record, a call; back a call, and three to look at its metadata."""
    sent, received = counted(kafka, "record", 2000)
    assert sent == {"crossings": 8 * 2000}
    # A record: two to get at it, nine for its fields. A poll: two, and two for the iterator. Assigning: five.
    polls, rest = divmod(received["crossings"] - 2000 * 11 - 5, 4)
    assert rest == 0
    assert polls >= 4, "by default, a poll has 500 records at the most"


@pytest.mark.broker
def test_batches_have_few_crossings(kafka: str) -> None:
    sent, received = counted(kafka, "batch", 10_000)
    assert 10 < sent["crossings"] < 1000
    assert 20 < received["crossings"] < 1000


@pytest.mark.broker
@pytest.mark.skipif(platform.machine() != "x86_64", reason="JNI calls are counted on x86-64")
def test_jni_calls_are_counted_on_request(kafka: str) -> None:
    # The first call of each method makes more, and Java's own sockets make some.
    for crossing, messages, fewest, most in (("record", 1000, 40, 400), ("batch", 20_000, 0, 2)):
        for counts in counted(kafka, crossing, messages, count_jni_calls=True):
            assert counts["jni_calls"] >= counts["crossings"] > 0
            assert fewest <= counts["jni_calls"] / messages <= most
    assert all("jni_calls" not in counts for counts in counted(kafka, "batch", 1000))


@pytest.mark.broker
@pytest.mark.parametrize("crossing", ["record", "batch"])
def test_a_record_without_a_value_is_an_empty_one(kafka: str, crossing: str) -> None:
    driver, topic = open_driver(java_target(kafka, crossing=crossing), {}), f"n-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=topic), (topic,))
    other = confluent_kafka.Producer({"bootstrap.servers": kafka})
    for value, key in ((None, b"a"), (b"x", None), (b"", b"c")):
        other.produce(topic, value, key)
    other.flush(15)
    other.close()
    consumer = driver.consumer(ConsumerOptions(0, (topic,), "key", ((0, 0),), None, {}))
    got = consume_all(consumer, 3)
    assert got.values == [b"", b"x", b""]
    assert got.carried == [b"a", None, b"c"]
    consumer.close()
    driver.remove_topics([topic])


@pytest.mark.parametrize("crossing", ["record", "batch"])
def test_a_broker_that_is_not_there_is_named(crossing: str) -> None:
    target = java_target("127.0.0.1:1", crossing=crossing)
    target = target.model_copy(update={"producer_client": {"max.block.ms": 300}})
    with pytest.raises(Unreachable, match=r"producer 0: Kafka at 127\.0\.0\.1:1: "):
        open_driver(target, {}).producer(ProducerOptions(0, ("t",), "value", "all", "none"))


def test_the_loops_in_java_tell_every_setting_by_kafkas_own_account() -> None:
    target = java_target("127.0.0.1:1", linger_ms=7).model_copy(
        update={"producer_client": {"batch.size": 4321}, "consumer_client": {"max.poll.records": 1}}
    )
    driver = jvm_driver(open_driver(target, {}))
    driver.start_java()
    producer = driver.loop_facts(ProducerOptions(0, ("t",), "value", "1", "zstd"))
    consumer = driver.loop_facts(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
    wanted = {"linger.ms": "7", "batch.size": "4321", "acks": "1", "compression.type": "zstd"}
    assert {name: producer[name] for name in wanted} == wanted
    assert (consumer["max.poll.records"], consumer["enable.auto.commit"].lower()) == ("1", "false")
    # Nobody set these: they are in force all the same.
    assert (producer["request.timeout.ms"], consumer["fetch.min.bytes"]) == ("30000", "1")


@pytest.mark.broker
def test_a_machine_with_nothing_but_what_pip_installs(kafka: str) -> None:
    done = run_fresh(PRODUCE_AND_CONSUME, kafka, f"p-{uuid.uuid4().hex[:8]}", "batch", **NO_JAVA_INSTALLED)
    assert done.returncode == 0, done.stderr
    got, version = done.stdout.split()
    assert int(got) == 500
    assert int(version.split(".")[0]) >= 25
    assert done.stderr == ""


@pytest.mark.broker
def test_java_that_cannot_start_says_why(kafka: str) -> None:
    done = run_fresh(PRODUCE_AND_CONSUME, kafka, f"p-{uuid.uuid4().hex[:8]}", "batch", "-Xmx2")
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("JvmFailed ")
    assert "Too small maximum heap" in done.stdout


@pytest.mark.broker
@pytest.mark.parametrize("crossing", ["record", "batch"])
def test_a_process_ends_well_with_messages_on_their_way_and_nothing_closed(kafka: str, crossing: str) -> None:
    """Java's threads go on calling back; an interpreter that is gone would be the end of the process."""
    leave = """
for _ in range(3):
    producer.send(Outgoing(0, [b"x"] * 500, ordinal_keys(0, 500), None), 0)
"""
    topic = f"p-{uuid.uuid4().hex[:8]}"
    done = run_fresh(PRODUCE_AND_CONSUME + leave, kafka, topic, crossing)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("500 ")
