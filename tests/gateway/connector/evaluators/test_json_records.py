from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.json_records import JsonEvaluator, load_json_schema


def test_an_object_at_the_top() -> None:
    assert JsonEvaluator().decode(b'{"a": [1, null]}') == {"a": [1, None]}
    for bad in (b"", b"{", b"nope", b'{"a": NaN}', b"\xff"):
        with pytest.raises(Undecodable, match="not JSON"):
            JsonEvaluator().decode(bad)
    for bad in (b"[1]", b"1", b'"x"', b"null"):
        with pytest.raises(Undecodable, match="must be an object"):
            JsonEvaluator().decode(bad)


def test_records_of_the_registry_have_a_number_in_front() -> None:
    evaluator = JsonEvaluator(from_registry=True)
    assert evaluator.decode(b'\0\0\0\0\1{"a": 1}') == {"a": 1}
    assert not evaluator.blocking
    with pytest.raises(Undecodable, match="zero byte"):
        evaluator.decode(b'{"a": 1}')


def test_a_schema_to_check_with(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(
        '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "default": 1}}}'
    )
    evaluator = JsonEvaluator(check=load_json_schema(path))
    assert evaluator.decode(b'{"a": 1}') == {"a": 1}
    with pytest.raises(Undecodable, match=r"not what its JSON schema says: data\.a must be integer"):
        evaluator.decode(b'{"a": "x"}')
    with pytest.raises(Undecodable, match="must contain"):
        evaluator.decode(b"{}")


@pytest.mark.parametrize("content", ["{", "1", '{"type": "strnig"}'])
def test_a_schema_that_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "schema.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=r"schema\.json: is no JSON schema"):
        load_json_schema(path)
    with pytest.raises(BadInput, match=r"none\.json: cannot be read: No such file"):
        load_json_schema(tmp_path / "none.json")
