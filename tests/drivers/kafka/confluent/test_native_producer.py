"""The compiled sending loop against its twin in Python: the same load gives the same events."""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.agents.sending import AT_ONCE, Sending
from streamgauge.core.clock import NS_PER_MS, NS_PER_S, Clock
from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import UNKNOWN, Acks, PacedProducer, Producer, ProducerOptions
from streamgauge.drivers.kafka.confluent import native_producer as module
from streamgauge.drivers.kafka.confluent import own_client
from streamgauge.drivers.kafka.confluent.librdkafka import error_words
from streamgauge.drivers.kafka.confluent.native_producer import SPIN_SHARE, NativeProducer, native_producer
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.registry import open_driver
from streamgauge.native.loading import compiled_loops
from streamgauge.payload.making import Ingredients, MessageMaker, Outgoing
from streamgauge.spec.load import Message
from streamgauge.spec.topics import Topics
from tests.agents.fakes import START_NS, FakeDriver, RealTimeDriver
from tests.agents.stage import Stage, assigned
from tests.drivers.kafka.confluent.test_driver import kafka_target
from tests.native.played_librdkafka import QUEUE_FULL, PlayedClient, PlayedClock
from tests.proof import tries

pytestmark = [
    pytest.mark.skipif(compiled_loops() is None, reason="the loops were not built"),
    pytest.mark.proof,
]
TOO_LARGE, TIMED_OUT = 10, -192
SETTINGS = ClientSettings("librdkafka", "producer", {}, {"bootstrap.servers": "127.0.0.1:1"})


class ReadClock(Clock):
    """Python's view of the clock that the loop reads."""

    def __init__(self, played: PlayedClock) -> None:
        self.now_ns = played.read

    def sleep_until(self, due_ns: int) -> None:
        while self.now_ns() < due_ns:
            pass


class PlayedProducer(Producer):
    """What the played client does, by the contract of drivers: message by message, in the same order."""

    def __init__(self, client: PlayedClient, clock: Clock) -> None:
        self._client, self.clock = client, clock
        self._sequences: list[int] = []
        self._numbers: dict[int, int] = {}
        self._attempts = self._looks = self._told = 0
        self.values: list[tuple[bytes, bytes | None]] = []

    def send(self, batch: Outgoing, topic: int) -> int:
        keys: list[Any] = batch.keys or [None] * len(batch)
        for place, value in enumerate(batch.values):
            code = self._client._refuses(self._attempts)
            self._attempts += 1
            if code == QUEUE_FULL:
                return place
            sequence = batch.first_sequence + place
            if code:
                self._numbers[sequence] = -code
            else:
                self.values.append((value, keys[place]))
                self._numbers[sequence] = len(self.values)
            # Last: the thread that polls may look at once.
            self._sequences.append(sequence)
        return len(batch)

    def poll(self, timeout_s: float) -> Acks | None:
        self._looks += 1
        told = self._sequences[self._told :]
        self._told += len(told)
        if not told:
            return None
        numbers = [self._numbers[sequence] - 1 for sequence in told]
        codes = [self._client._fate(n) if n >= 0 else -n - 1 for n in numbers]
        offsets = np.array([UNKNOWN if code else 10 * n for n, code in zip(numbers, codes, strict=True)])
        errors = {s: error_words(code) for s, code in zip(told, codes, strict=True) if code}
        partitions = np.where(np.array(codes) != 0, UNKNOWN, 0).astype(np.int32)
        return Acks(np.array(told), partitions, offsets, errors)

    def outstanding(self) -> int:
        return len(self._sequences) - self._told

    def close(self) -> None: ...


def native(
    client: PlayedClient, options: ProducerOptions, messages: Ingredients, spin_us: int = 0
) -> NativeProducer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "OwnClient", lambda settings, number: client)
        return NativeProducer(SETTINGS, options, messages, spin_us)


class PlayedDriver(RealTimeDriver):
    def __init__(
        self,
        client: PlayedClient | None,
        clock: Clock,
        *,
        is_native: bool,
        shared: PlayedClock | None = None,
    ) -> None:
        """Without a client each producer gets one of its own, by the clock that they share."""
        super().__init__()
        self._played, self._clock, self._is_native, self._shared = client, clock, is_native, shared
        self.made: list[Producer] = []

    def producer(self, options: ProducerOptions) -> Producer:
        assert self._played is not None
        self.made.append(PlayedProducer(self._played, self._clock))
        return self.made[-1]

    def paced_producer(self, options: ProducerOptions, messages: Ingredients) -> PacedProducer | None:
        if not self._is_native:
            return None
        made = native(self._played or PlayedClient(clock=self._shared), options, messages)
        made.clock = self._clock
        self.made.append(made)
        return made


def ran(
    is_native: bool, client: Callable[[PlayedClock], PlayedClient], at_ns: int, **load: Any
) -> tuple[list[dict[str, Any]], list[tuple[bytes, bytes | None]]]:
    """Rows, and what was sent: value and key."""
    played = PlayedClock(at_ns, 500)
    made = client(played)
    driver = PlayedDriver(made, ReadClock(played), is_native=is_native)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(assigned(folder, consumers=0, **load))
        stage.produce(driver)
        rows = stage.sends
    [producer] = driver.made
    if isinstance(producer, PlayedProducer):
        return rows, producer.values
    return rows, [(value, key) for _, _, value, key in made.taken]


_sizes = st.one_of(
    st.integers(32, 300), st.just({"distribution": "uniform", "min": 32, "max": 6000}), st.just(9000)
)
_keys = st.sampled_from([{}, {"kind": "round_robin", "of": 7}, {"kind": "random", "of": 3}])
_messages = st.one_of(
    st.builds(lambda size, keys: {"size": size, "keys": keys}, _sizes, _keys),
    st.builds(lambda size: {"size": size, "header_in": "key"}, st.integers(0, 100)),
)


@given(
    message=_messages,
    count=st.integers(1, 400),
    refused=st.dictionaries(st.integers(0, 300), st.sampled_from([QUEUE_FULL, TOO_LARGE]), max_size=5),
    failed=st.dictionaries(st.integers(0, 300), st.just(TIMED_OUT), max_size=5),
    told=st.lists(st.integers(0, 200), min_size=1, max_size=5),
)
@tries(25, 400)
def test_the_same_load_gives_the_same_events_as_in_python(
    message: dict[str, Any], count: int, refused: dict[int, int], failed: dict[int, int], told: list[int]
) -> None:
    def client(clock: PlayedClock) -> PlayedClient:
        return PlayedClient(
            refuses=lambda attempt: refused.get(attempt, 0),
            fate=lambda number: failed.get(number, 0),
            told_at_once=lambda look: told[look % len(told)] or look % 2,
            clock=clock,
        )

    load = {"messages": count, "rate": 1000, "message": message}
    # All are due at the start, so that batches do not depend on the time.
    rows, sent = ran(True, client, START_NS + NS_PER_S, **load)
    twin_rows, twin_sent = ran(False, client, START_NS + NS_PER_S, **load)
    assert sent == twin_sent
    clocked = ("sent_ns", "acked_ns")
    assert [{k: v for k, v in row.items() if k not in clocked} for row in rows] == [
        {k: v for k, v in row.items() if k not in clocked} for row in twin_rows
    ]
    stamps = [row["sent_ns"] for row in rows]
    assert stamps == sorted(set(stamps)), "every message has a stamp of its own"
    assert all(row["acked_ns"] >= row["sent_ns"] >= row["intended_ns"] for row in rows)


def _plain(clock: PlayedClock) -> PlayedClient:
    return PlayedClient(clock=clock)


def test_without_a_rate_a_message_is_due_when_it_is_sent() -> None:
    rows, sent = ran(True, _plain, START_NS, messages=3000, message={"size": 64})
    assert [row["intended_ns"] for row in rows] == [row["sent_ns"] for row in rows]
    headers = np.frombuffer(b"".join(value[:32] for value, _ in sent), "<i8").reshape(-1, 4)
    assert headers[:, 2].tolist() == [row["sent_ns"] for row in rows]
    assert len({row["sent_ns"] for row in rows}) == 3000


def test_a_message_is_not_sent_before_it_is_due() -> None:
    rows, _ = ran(True, _plain, START_NS - 2 * NS_PER_MS, messages=200, rate=20_000, message={"size": 64})
    assert [row["intended_ns"] - START_NS for row in rows] == [50_000 * k for k in range(200)]
    assert all(row["sent_ns"] >= row["intended_ns"] for row in rows)


def test_topics_get_messages_in_turn() -> None:
    rows, _ = ran(
        True,
        _plain,
        START_NS - NS_PER_MS,
        messages=90,
        rate=20_000,
        topics={"count": 3},
        message={"size": 64},
    )
    topics = [row["topic"] for row in rows]
    assert {topics.count(number) for number in range(3)} <= set(range(20, 41))


@pytest.mark.parametrize("rate", [50_000, "unlimited"])
def test_streams_of_several_partitions_take_turns(rate: Any) -> None:
    clock = PlayedClock(START_NS - NS_PER_MS, 500)
    driver = PlayedDriver(None, ReadClock(clock), is_native=True, shared=clock)
    load: dict[str, Any] = {
        "streams": "per_partition",
        "topics": {"count": 2, "partitions": 2},
        "message": {"size": 64},
    }
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(assigned(folder, consumers=0, **load, messages=12_000, rate=rate))
        stage.produce(driver)
        rows = stage.sends
    sent = {number: [row for row in rows if row["producer"] == number] for number in range(4)}
    for number, own in sent.items():
        assert [row["sequence"] for row in own] == list(range(3000))
        assert {(row["topic"], row["partition"]) for row in own} == {(number // 2, number % 2)}
        assert all(row["acked_ns"] >= row["sent_ns"] >= row["intended_ns"] for row in own)
    # None is done before every other one has begun, though each could send all it has at once.
    assert max(own[0]["sent_ns"] for own in sent.values()) < min(own[-1]["sent_ns"] for own in sent.values())


def test_streams_with_keys_that_are_behind_do_not_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are drawn 1,024 at a time: where they end, the client is not full."""
    pauses: list[int] = []
    send = Sending._send_beneath

    def noted(sending: Sending, *given: Any) -> int:
        pauses.append(send(sending, *given))
        return pauses[-1]

    monkeypatch.setattr(Sending, "_send_beneath", noted)
    clock = PlayedClock(START_NS + NS_PER_S, 500)
    driver = PlayedDriver(None, ReadClock(clock), is_native=True, shared=clock)
    load: dict[str, Any] = {
        "streams": "per_partition",
        "topics": {"partitions": 2},
        "message": {"size": 64, "keys": {"kind": "round_robin", "of": 7}},
    }
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(assigned(folder, consumers=0, **load, messages=8_000, rate=10_000))
        stage.produce(driver)
        assert len(stage.sends) == 8_000
    assert set(pauses) == {AT_ONCE}


def test_a_client_that_is_full_makes_messages_late_and_loses_none() -> None:
    def client(clock: PlayedClock) -> PlayedClient:
        return PlayedClient(refuses=lambda attempt: QUEUE_FULL if 100 <= attempt < 140 else 0, clock=clock)

    rows, sent = ran(True, client, START_NS + NS_PER_S, messages=300, rate=1000, message={"size": 64})
    assert len(rows) == len(sent) == 300
    assert [row["sequence"] for row in rows] == list(range(300))
    assert rows[100]["sent_ns"] - rows[99]["sent_ns"] > 40 * 500


def test_a_client_that_is_full_for_ever_does_not_outlast_the_time_limit() -> None:
    rows, _ = ran(
        True,
        lambda clock: PlayedClient(refuses=lambda attempt: QUEUE_FULL if attempt >= 50 else 0, clock=clock),
        START_NS,
        messages=300,
        rate=100_000,
        time_limit=0.005,
        message={"size": 64},
    )
    assert len(rows) == 50


@pytest.fixture
def made() -> Iterator[tuple[NativeProducer, PlayedClient]]:
    client = PlayedClient(logs=[b"no broker is up"])
    ingredients = MessageMaker(Message(size=64), 77, 0).ingredients()
    assert ingredients is not None
    producer = native(client, ProducerOptions(0, ("t-0",), "value", "1", "none"), ingredients)
    yield producer, client
    producer.close()


def rows_for(count: int) -> dict[str, Any]:
    widths = {"topic": np.int32, "size_bytes": np.int32}
    names = ("topic", "size_bytes", "intended_ns", "sent_ns", "acked_ns")
    return {name: np.zeros(count, widths.get(name, np.int64)) for name in names}


def test_what_librdkafka_logs_is_logged(
    made: tuple[NativeProducer, PlayedClient], caplog: pytest.LogCaptureFixture
) -> None:
    made[0].poll(0)
    assert "no broker is up" in caplog.text


def test_it_cannot_be_closed_while_its_loop_runs_nor_used_afterwards(
    made: tuple[NativeProducer, PlayedClient],
) -> None:
    producer, client = made
    due = np.full(1, producer.clock.now_ns() + 300 * NS_PER_MS)
    sending = threading.Thread(
        target=producer.send_due,
        args=(0, 1, due, rows_for(1), int(due[0]) + NS_PER_S),
        kwargs={"waits": True},
    )
    sending.start()
    while not producer._using.locked() and sending.is_alive():
        pass
    producer.close()
    assert client.is_closed
    assert len(client.taken) == 1, "closing waited for the loop"
    sending.join(10)
    for use in (lambda: producer.poll(0), lambda: producer.send_due(1, 1, None, rows_for(1), 0, waits=False)):
        with pytest.raises(CaseFailed, match="was closed while it was used"):
            use()
    producer.close()


def test_without_compiled_loops_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ingredients = MessageMaker(Message(size=64), 77, 0).ingredients()
    assert ingredients is not None
    options = ProducerOptions(0, ("t-0",), "value", "1", "none")
    for unfit in ({"oauth_cb": print}, {"sasl.mechanisms": "OAUTHBEARER"}):
        in_python = ClientSettings("librdkafka", "producer", {}, unfit)
        assert native_producer(in_python, options, ingredients) is None
    monkeypatch.setattr(module, "compiled_loops", lambda: None)
    assert native_producer(SETTINGS, options, ingredients) is None


def test_messages_with_record_headers_are_made_in_python() -> None:
    assert MessageMaker(Message(size=64, headers={"who": "me"}), 77, 0).ingredients() is None
    assert MessageMaker(Message(size=8, keys={"kind": "round_robin", "of": 3}), 77, 0).ingredients() is None  # type: ignore[arg-type]


def test_a_driver_that_has_none_is_sent_through_in_python() -> None:
    assert FakeDriver().paced_producer(ProducerOptions(0, (), "value", "1", "none"), None) is None  # type: ignore[arg-type]


def _paced(kafka: str, name: str, size: int = 100, **client: Any) -> PacedProducer:
    driver = open_driver(kafka_target(kafka, producer_client=client), {})
    ingredients = MessageMaker(Message(size=size), 77, 0).ingredients()
    assert ingredients is not None
    made = driver.paced_producer(ProducerOptions(0, (name,), "value", "all", "none"), ingredients)
    assert made is not None
    return made


def _sent_and_told(producer: PacedProducer, count: int) -> Acks:
    rows, acks = rows_for(count), []
    until_ns = producer.clock.now_ns() + 30 * NS_PER_S
    assert producer.send_due(0, count, None, rows, until_ns, waits=True) == count
    producer.flush_soon()
    while producer.outstanding() and producer.clock.now_ns() < until_ns:
        if (told := producer.poll(0.1)) is not None:
            acks.append(told)
    return Acks(
        np.concatenate([a.sequences for a in acks]),
        np.concatenate([np.broadcast_to(a.partitions, len(a)) for a in acks]),
        np.concatenate([a.offsets for a in acks]),
        {k: v for a in acks for k, v in a.errors.items()},
    )


@pytest.mark.broker
def test_messages_are_where_their_acks_say(kafka: str) -> None:
    name = f"t-{uuid.uuid4().hex[:8]}"
    driver = open_driver(kafka_target(kafka), {})
    driver.prepare_topics(Topics(name=name, partitions=3), (name,))
    producer = _paced(kafka, name, **{"linger.ms": 60_000})
    assert producer.settings_in_force()["loop"] == "native"
    acks = _sent_and_told(producer, 5000)
    producer.close()
    assert sorted(acks.sequences.tolist()) == list(range(5000))
    assert not acks.errors
    places: Any = (acks.sequences, acks.partitions, acks.offsets)
    said = {(int(p), int(o)): int(s) for s, p, o in zip(*places, strict=True)}
    reader = confluent_kafka.Consumer({"bootstrap.servers": kafka, "group.id": name})
    reader.assign([confluent_kafka.TopicPartition(name, p, 0) for p in range(3)])
    found: dict[tuple[int, int], int] = {}
    for _ in range(300):
        for record in reader.consume(1000, 0.1):
            place = (record.partition(), record.offset())
            found[place] = int.from_bytes(record.value()[8:16], "little")
        if len(found) == 5000:
            break
    reader.close()
    assert found == said
    driver.remove_topics([name])


@pytest.mark.broker
def test_messages_that_are_refused_or_never_arrive_are_told_with_the_reason(kafka: str) -> None:
    name = f"t-{uuid.uuid4().hex[:8]}"
    driver = open_driver(kafka_target(kafka), {})
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    large = _paced(kafka, name, size=5000, **{"message.max.bytes": 2000})
    acks = _sent_and_told(large, 3)
    large.close()
    assert acks.errors == dict.fromkeys(range(3), error_words(TOO_LARGE))
    assert acks.offsets.tolist() == [UNKNOWN] * 3
    driver.remove_topics([name])
    news = {"topic.metadata.propagation.max.ms": 500, "message.timeout.ms": 1500, "linger.ms": 0}
    gone = _paced(kafka, name, **news)
    acks = _sent_and_told(gone, 10)
    gone.close()
    assert sorted(acks.errors) == list(range(10))


@pytest.mark.broker
def test_closing_with_messages_on_their_way_ends(kafka: str) -> None:
    name = f"t-{uuid.uuid4().hex[:8]}"
    driver = open_driver(kafka_target(kafka), {})
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    producer = _paced(kafka, name, **{"linger.ms": 60_000})
    assert (
        producer.send_due(0, 500, None, rows_for(500), producer.clock.now_ns() + NS_PER_S, waits=True) == 500
    )
    assert producer.outstanding() == 500
    producer.close()
    driver.remove_topics([name])


def test_a_setting_that_librdkafka_does_not_take_is_named() -> None:
    with pytest.raises(BadInput, match=r'client: .*"no\.such\.setting"'):
        _paced("127.0.0.1:1", "t", **{"no.such.setting": 1})


def test_a_process_that_was_forked_leaves_the_client_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    client = own_client.OwnClient({"bootstrap.servers": "127.0.0.1:1"}, 0)
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        client.close()
    assert client.waiting() >= 0, "it is still alive"
    client.close()
    client.close()


def test_brokers_that_do_not_answer_are_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_client, "_TOPIC_DEADLINE_MS", 300)
    with pytest.raises(Unreachable, match="producer 0: "):
        _paced("127.0.0.1:1", "t")


@pytest.mark.parametrize("spin_us", [0, 30])
def test_it_looks_at_the_clock_before_a_message_is_due_for_a_small_part_of_a_core_at_the_most(
    spin_us: int,
) -> None:
    clock, count, period_ns = PlayedClock(START_NS, 5_000), 60, 100_000
    messages = MessageMaker(Message(size=100), 7, 0).ingredients()
    assert messages is not None
    producer = native(
        PlayedClient(clock=clock), ProducerOptions(0, ("t",), "value", "1", "none"), messages, spin_us
    )
    due_ns = START_NS + period_ns * np.arange(1, count + 1)
    rows: dict[str, Any] = {
        name: np.zeros(count, np.int64) for name in ("intended_ns", "sent_ns", "acked_ns")
    }
    rows |= {name: np.zeros(count, np.int32) for name in ("topic", "size_bytes")}
    assert producer.send_due(0, count, due_ns, rows, START_NS + NS_PER_S, waits=True) == count
    assert (rows["sent_ns"] >= due_ns).all(), "spinning or sleeping, none is sent too early"
    spent_us, most_us = producer.counters().get("spun_us", 0), count * period_ns * SPIN_SHARE // 1000 // 1000
    assert producer.settings_in_force()["spin_us"] == spin_us
    # What it may spend is looked at before it spins: it may be above by one spin, and a reading of the clock.
    assert (spent_us > 0) == (spin_us > 0)
    assert spent_us <= most_us + spin_us + 5
    producer.close()
