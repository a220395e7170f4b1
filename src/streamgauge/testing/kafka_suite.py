"""What every Kafka driver passes beside the suite for all drivers.

A test class names its driver, and has a fixture `kafka`: the address of a broker that tests may make
topics on.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, Driver, Producer, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.testing.driver_suite import DriverSuite
from streamgauge.testing.wired import Wired, consume_all, produce_all

SHARED = {
    "linger_ms": 7,
    "batch_size": "32KiB",
    "max_in_flight": 3,
    "idempotence": False,
    "send_buffer": "64KiB",
    "receive_buffer": "128KiB",
    "fetch_min_bytes": 2,
    "fetch_max_wait_ms": 50,
}


class KafkaSuite(DriverSuite):
    driver_name: ClassVar[str]
    settings: ClassVar[dict[str, Any]] = {}
    """Of the driver, beside the address."""
    native_linger: ClassVar[str]
    native_unknown: ClassVar[str]
    """A producer setting that the library does not have."""
    without_equivalent: ClassVar[set[str]] = set()
    flush_hurries: ClassVar[bool] = True

    def target_at(self, bootstrap: str, *, settings: dict[str, Any] | None = None, **parts: Any) -> Target:
        everything = {"bootstrap": bootstrap, **self.settings, **(settings or {})}
        return Target(name="kafka", driver=self.driver_name, settings=everything, **parts)

    @pytest.fixture
    def target(self, kafka: str) -> Target:
        return self.target_at(kafka, settings={"linger_ms": 1})

    def test_a_group_reads_every_partition(self, driver: Driver, topic: str) -> None:
        driver.prepare_topics(Topics(name=topic, partitions=2), (topic,))
        start = driver.end_offsets((topic,), 2)
        options = ConsumerOptions(0, (topic,), "ordinal", ((0, 0), (0, 1)), f"g-{topic}", start)
        consumer = driver.consumer(options)
        consumer.wait_ready(30)
        assert consumer.caught_up(start)
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        produce_all(producer, Outgoing(0, [b"x"] * 200, ordinal_keys(0, 200), None))
        assert not consumer.caught_up(driver.end_offsets((topic,), 2))
        assert sorted(consume_all(consumer, 200).ordinals()) == list(range(200))
        assert consumer.caught_up(driver.end_offsets((topic,), 2))
        assert consumer.dealt_count()
        producer.close()
        consumer.close()
        driver.remove_topics([topic])

    def test_a_group_that_deals_anew_is_told_of(self, driver: Driver, topic: str) -> None:
        driver.prepare_topics(Topics(name=topic, partitions=2), (topic,))
        options = ConsumerOptions(0, (topic,), "ordinal", ((0, 0), (0, 1)), f"g-{topic}", {})
        first = driver.consumer(options)
        first.wait_ready(30)
        before = first.dealt_count() or 0
        second = driver.consumer(replace(options, number=1))
        until = time.monotonic() + 60
        while (first.dealt_count() or 0) == before and time.monotonic() < until:
            first.poll(0.1)
            second.poll(0.1)
        assert (first.dealt_count() or 0) > before
        first.close()
        second.close()
        alone = driver.consumer(replace(options, group=None))
        assert alone.dealt_count() is None
        alone.close()
        driver.remove_topics([topic])

    def test_a_reader_whose_place_is_no_more_does_not_pass_over_what_is_still_there(
        self, driver: Driver, topic: str
    ) -> None:
        """As after an unclean election: the log is shorter than what was read of it."""
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        produce_all(producer, Outgoing(0, [b"x"] * 100, ordinal_keys(0, 100), None))
        options = ConsumerOptions(0, (topic,), "ordinal", ((0, 0),), None, {(0, 0): 1000})
        consumer = driver.consumer(options)
        assert sorted(consume_all(consumer, 100).ordinals()) == list(range(100))
        producer.close()
        consumer.close()
        driver.remove_topics([topic])

    @pytest.mark.parametrize("acks", ["0", "1"])
    def test_fewer_acks_are_acks_too(self, driver: Driver, topic: str, acks: Any) -> None:
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", acks, "none"))
        told = produce_all(producer, Outgoing(0, [b"x"] * 50, ordinal_keys(0, 50), None))
        assert sorted(s for a in told for s in a.sequences.tolist()) == list(range(50))
        # Without acks from a broker nobody knows an offset.
        known = {int(o) for a in told for o in a.offsets}
        assert known == ({-1} if acks == "0" else set(range(50)))
        producer.close()
        driver.remove_topics([topic])

    def test_a_message_that_is_too_large_fails_alone(self, driver: Driver, topic: str) -> None:
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        values = [b"a", b"b" * 3_000_000, b"c"]
        told = produce_all(producer, Outgoing(0, values, ordinal_keys(0, 3), None))
        assert sorted(s for a in told for s in a.sequences.tolist()) == [0, 1, 2]
        errors = {s: why for a in told for s, why in a.errors.items()}
        assert set(errors) == {1}
        assert "large" in errors[1].lower()
        producer.close()
        driver.remove_topics([topic])

    def test_shared_settings_are_in_force_or_named_as_missing(self, kafka: str, topic: str) -> None:
        target = self.target_at(kafka, settings=SHARED)
        with Wired(open_driver(target, {}), (topic,), partitions=1, message=Message(size=64)) as wired:
            told = [*wired.producer.shared_settings(), *wired.consumer.shared_settings()]
        values = {setting.name: setting.value for setting in told}
        missing = {setting.name for setting in told if setting.native is None}
        assert missing == self.without_equivalent
        assert all(setting.note for setting in told if setting.native is None)
        expected = {
            "acks": "all",
            "compression": "none",
            **SHARED,
            "batch_size": 32768,
            "send_buffer": 65536,
            "receive_buffer": 131072,
        }
        assert {n: v for n, v in values.items() if n not in missing} == {
            n: v for n, v in expected.items() if n not in missing
        }

    def test_defaults_in_force_are_told_too(self, kafka: str, topic: str) -> None:
        driver = open_driver(self.target_at(kafka), {})
        with Wired(driver, (topic,), partitions=1, message=Message(size=64)) as wired:
            producer = {s.name: s.value for s in wired.producer.shared_settings() if s.native}
            consumer = {s.name: s.value for s in wired.consumer.shared_settings() if s.native}
        assert producer["linger_ms"] in (0, 5)
        assert producer["batch_size"] in (16384, 1_000_000)
        assert isinstance(producer["idempotence"], bool)
        assert (consumer["fetch_min_bytes"], consumer["fetch_max_wait_ms"]) == (1, 500)

    def test_the_librarys_own_name_wins(self, kafka: str, topic: str) -> None:
        target = self.target_at(kafka, settings={"linger_ms": 7}, producer_client={self.native_linger: 3})
        driver = open_driver(target, {})
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer = driver.producer(ProducerOptions(0, (topic,), "value", "all", "none"))
        assert {s.name: s.value for s in producer.shared_settings()}["linger_ms"] == 3
        assert float(producer.settings_in_force()[self.native_linger]) == 3
        producer.close()
        driver.remove_topics([topic])

    def test_a_setting_that_the_library_does_not_know_is_bad_input(self, kafka: str, topic: str) -> None:
        driver = open_driver(self.target_at(kafka, producer_client={self.native_unknown: 1}), {})
        with pytest.raises(BadInput, match=self.native_unknown):
            driver.producer(ProducerOptions(0, ("t",), "value", "all", "none"))

    def test_nothing_lingers_when_no_more_messages_come(self, kafka: str, topic: str) -> None:
        """A linger of a minute would outlast the patience of `produce_all`."""
        if not self.flush_hurries:
            pytest.skip("the library lingers to the end; its shared settings say so")
        driver = open_driver(self.target_at(kafka, settings={"linger_ms": 60_000}), {})
        driver.prepare_topics(Topics(name=topic), (topic,))
        producer: Producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        produce_all(producer, Outgoing(0, [b"x"] * 10, ordinal_keys(0, 10), None))
        producer.close()
        driver.remove_topics([topic])
