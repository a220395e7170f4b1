from __future__ import annotations

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed, Undecodable
from streamgauge.gateway.connector.evaluators.kvp_records import KvpEvaluator
from streamgauge.gateway.connector.expressions import parse


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"a=1,b=2", {"a": "1", "b": "2"}),
        (b" a = 1 , b= x y ", {"a": "1", "b": "x y"}),
        (b"a,b=2", {"a": "", "b": "2"}),
        (b"a=1=2,b=3", {"b": "3"}),
        (b"a=1,a=2", {"a": "2"}),
        (b"a=", {"a": ""}),
        (b"=1,,b=2", {"b": "2"}),
        (b"", None),
        (b"  \n", None),
    ],
)
def test_pairs(data: bytes, found: dict[str, str] | None) -> None:
    assert KvpEvaluator().decode(data) == found


def test_other_separators() -> None:
    assert KvpEvaluator(";", "@").decode(b"a@1,2;b@x=y") == {"a": "1,2", "b": "x=y"}


def test_reading_them() -> None:
    evaluator = KvpEvaluator()
    read = evaluator.reader(parse("VALUE.a"), non_scalars=False)
    assert read(evaluator.decode(b"a=1")) == "1"
    with pytest.raises(ExtractionFailed, match="not found"):
        read(evaluator.decode(b"b=1"))
    with pytest.raises(ExtractionFailed, match="from null"):
        read(evaluator.decode(b""))
    with pytest.raises(Undecodable, match="not UTF-8"):
        evaluator.decode(b"\xff")
