"""How a transaction ends when brokers do not answer at once; else see `test_driver.py`, with a broker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, KafkaException

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import ProducerOptions
from streamgauge.drivers.kafka.confluent import producer as producers
from streamgauge.drivers.kafka.confluent.producer import RdkafkaProducer

AWAY = KafkaError(KafkaError._TIMED_OUT, "no answer", retriable=True)
FENCED = KafkaError(KafkaError._FENCED, "somebody else", fatal=True)
TO_ABORT = KafkaError(KafkaError._STATE, "a message failed", txn_requires_abort=True)


class Library:
    """Fails as often as it is told to, and says what it was asked."""

    def __init__(self, settings: Any, logger: Any) -> None:
        self.asked: list[str] = []
        self.fails: dict[str, list[KafkaError]] = {}

    def list_topics(self, name: str, timeout: float) -> Any:
        return SimpleNamespace(topics={name: SimpleNamespace(partitions=[0])})

    def init_transactions(self, timeout_s: float) -> None: ...

    def flush(self, timeout_s: float) -> int:
        return 0

    def commit_transaction(self, timeout_s: float) -> None:
        self._do("commit")

    def abort_transaction(self, timeout_s: float) -> None:
        self._do("abort")

    def _do(self, what: str) -> None:
        self.asked.append(what)
        if left := self.fails.get(what):
            raise KafkaException(left.pop(0))


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> RdkafkaProducer:
    monkeypatch.setattr(confluent_kafka, "Producer", Library)
    monkeypatch.setattr(producers, "_ASK_AGAIN_S", 0.001)
    options = ProducerOptions(0, ("t",), "value", "all", "none", transactional_id="t-0")
    made = RdkafkaProducer(cast("Any", SimpleNamespace(native={})), options)
    made._in_transaction = True
    return made


def library(producer: RdkafkaProducer) -> Library:
    return cast("Library", producer._producer)


def test_a_commit_that_is_not_answered_is_asked_for_again(producer: RdkafkaProducer) -> None:
    library(producer).fails["commit"] = [AWAY, AWAY]
    assert producer.commit() is None
    assert library(producer).asked == ["commit"] * 3
    assert producer.commit() is None, "nothing is open"


def test_an_abort_that_is_not_answered_is_asked_for_again(producer: RdkafkaProducer) -> None:
    library(producer).fails["abort"] = [AWAY, AWAY]
    producer.abort()
    assert library(producer).asked == ["abort"] * 3
    producer.abort()
    assert library(producer).asked == ["abort"] * 3, "nothing is open"


def test_what_cannot_be_committed_is_aborted_however_long_that_takes_to_be_answered(
    producer: RdkafkaProducer,
) -> None:
    library(producer).fails = {"commit": [AWAY, TO_ABORT], "abort": [AWAY]}
    assert producer.commit() == "a message failed"
    assert library(producer).asked == ["commit", "commit", "abort", "abort"]


@pytest.mark.parametrize("how", ["commit", "abort"])
def test_one_that_does_not_end_in_time_or_cannot_end_breaks_the_case(
    producer: RdkafkaProducer, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    library(producer).fails[how] = [FENCED]
    with pytest.raises(CaseFailed, match=r"a transaction could not be .*ted: somebody else"):
        getattr(producer, how)()
    monkeypatch.setattr(producers, "_TRANSACTION_S", 0.0)
    library(producer).fails[how] = [AWAY] * 100
    with pytest.raises(CaseFailed, match="no answer"):
        getattr(producer, how)()
    assert library(producer).asked.count(how) < 100
