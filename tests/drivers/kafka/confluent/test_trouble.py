from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.kafka.confluent.trouble import PASSING, Trouble

LASTING = (
    KafkaError.OFFSET_OUT_OF_RANGE,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._FATAL,
    KafkaError._BAD_MSG,
)


@pytest.mark.parametrize("code", sorted(PASSING))
def test_what_passes_ends_no_case(code: int) -> None:
    Trouble(code, "comes and goes").check()
    assert Trouble(code, "comes and goes").passes


@pytest.mark.parametrize("code", LASTING)
def test_anything_else_ends_it_with_its_words(code: int) -> None:
    with pytest.raises(CaseFailed, match=r"the consumer cannot go on: orders: no such thing"):
        Trouble(code, "no such thing", "orders").check()


def test_the_end_of_a_partition_is_no_error() -> None:
    Trouble(KafkaError._PARTITION_EOF, "no more", "orders", 1, 7).check()


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION])
@pytest.mark.parametrize(
    ("topic", "said"),
    [("orders", "unknown"), ("orders", "orders [0]: unknown"), (None, "orders [0]: unknown")],
)
def test_a_topic_that_is_gone_is_named_once(code: int, topic: str | None, said: str) -> None:
    with pytest.raises(CaseFailed, match=r"a topic is gone .*orders.*: unknown; was it deleted") as failed:
        Trouble(code, said, topic).check()
    assert str(failed.value).count("orders") == 1
