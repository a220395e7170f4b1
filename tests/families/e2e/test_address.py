"""Which Kafka the flags of `e2e` name."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.e2e.command import e2e


def address(**flags: Any) -> Any:
    return e2e(**flags).workload.targets[0].settings["bootstrap"]


@pytest.mark.parametrize(
    ("host", "port", "named"),
    [
        ("broker", None, "broker:9092"),
        ("broker", 19092, "broker:19092"),
        ("broker:19092", None, "broker:19092"),
        ("broker:19092", 19092, "broker:19092"),
        ("127.0.0.1:19092", None, "127.0.0.1:19092"),
        ("[::1]:19092", None, "[::1]:19092"),
        ("[::1]", 19092, "[::1]:19092"),
        ("::1", None, "[::1]:9092"),
    ],
)
def test_a_host_may_have_its_port(host: str, port: int | None, named: str) -> None:
    assert address(kafka_bootstrap_host=host, kafka_bootstrap_port=port) == named


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            {"kafka_bootstrap_host": "broker:19092", "kafka_bootstrap_port": 9092},
            "broker:19092: --kafka-bootstrap-port says 9092",
        ),
        ({"kafka_bootstrap_host": "a:1,b:2"}, "give several as --bootstrap"),
        ({"kafka_bootstrap_host": "a", "bootstrap": "b:1"}, "both name an address"),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_line(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        e2e(**flags)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
