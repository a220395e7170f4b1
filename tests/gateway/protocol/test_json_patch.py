from __future__ import annotations

import json

import jsonpatch
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol import json_patch

from ...core.properties import untimed
from .strategies import containers, edited


def same(left: object, right: object) -> bool:
    """Equal with their types: 1, 1.0 and true are not the same."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(st.data())
@untimed
def test_a_patch_leads_to_the_new_document_by_ours_and_by_the_reference_implementation(
    data: st.DataObject,
) -> None:
    old = data.draw(containers)
    new = data.draw(st.one_of(edited(old), containers))
    patch = json_patch.diff(old, new)
    assert patch is not None
    operations = json.loads(patch)
    assert same(json_patch.apply(old, operations), new)
    assert same(jsonpatch.apply_patch(old, operations), new)


@given(st.data())
@untimed
def test_patches_of_the_reference_implementation_apply(data: st.DataObject) -> None:
    old = data.draw(containers)
    new = data.draw(edited(old))
    if isinstance(old, dict) == isinstance(new, dict):
        operations = jsonpatch.make_patch(old, new).patch
        assert json_patch.apply(old, operations) == jsonpatch.apply_patch(old, operations)


@pytest.mark.parametrize(
    ("old", "new"), [([1], [True]), ([1], [1.0]), ([0], [False]), ({"a": 1}, {"a": True})]
)
def test_equal_values_of_different_types_are_different(old: object, new: object) -> None:
    patch = json_patch.diff(old, new)
    assert patch is not None
    assert same(json_patch.apply(old, json.loads(patch)), new)


def test_only_what_changed_is_in_the_patch() -> None:
    old = {"a": "x" * 100, "b": [1, 2, 3], "c": {"d/e": 1, "f~g": 2}}
    new = {"a": "x" * 100, "b": [1, 2, 2.5, 3], "c": {"d/e": 5, "f~g": 2}, "h": None}
    patch = json_patch.diff(old, new)
    assert patch is not None
    assert json.loads(patch) == [
        {"op": "add", "path": "/b/2", "value": 2.5},
        {"op": "replace", "path": "/c/d~1e", "value": 5},
        {"op": "add", "path": "/h", "value": None},
    ]


def test_the_given_document_is_left_alone() -> None:
    old = {"a": [1]}
    json_patch.apply(old, [{"op": "add", "path": "/a/-", "value": 2}])
    assert old == {"a": [1]}


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ({"op": "move", "from": "/a", "path": "/c"}, {"b": [1, 2], "c": 1}),
        ({"op": "copy", "from": "/b", "path": "/c"}, {"a": 1, "b": [1, 2], "c": [1, 2]}),
        ({"op": "test", "path": "/b/1", "value": 2}, {"a": 1, "b": [1, 2]}),
        ({"op": "replace", "path": "", "value": []}, []),
        ({"op": "remove", "path": "/b/0"}, {"a": 1, "b": [2]}),
    ],
)
def test_all_operations_are_known(operation: dict[str, object], result: object) -> None:
    assert json_patch.apply({"a": 1, "b": [1, 2]}, [operation]) == result


@pytest.mark.parametrize(
    "operations",
    [
        {},
        [{}],
        ["add"],
        [{"op": "add"}],
        [{"op": "add", "path": "a", "value": 1}],
        [{"op": "add", "path": "/x/y", "value": 1}],
        [{"op": "add", "path": "/b/9", "value": 1}],
        [{"op": "add", "path": "/b/01", "value": 1}],
        [{"op": "remove", "path": "/x"}],
        [{"op": "remove", "path": "/b/2"}],
        [{"op": "replace", "path": "/x", "value": 1}],
        [{"op": "test", "path": "/a", "value": True}],
        [{"op": "explode", "path": "/a"}],
        [{"op": "remove", "path": 3}],
    ],
)
def test_patches_that_do_not_fit_are_refused(operations: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any kind will do
        json_patch.apply({"a": 1, "b": [1, 2]}, operations)


@pytest.mark.parametrize(
    "text", ["", "1", '"a"', "null", "{", "[1,]", "nonsense", '{"a": 1e999}', '["\\ud800"]', "[" * 2000]
)
def test_what_is_no_object_or_array_is_not_patched(text: str) -> None:
    assert not json_patch.is_document(text)


@pytest.mark.parametrize(
    "text", ["[12345678901234567]", '{"id": -9007199254740993}', "[1, 9999999999999999]"]
)
def test_whole_numbers_that_javascript_would_round_are_not_patched(text: str) -> None:
    assert not json_patch.is_document(text)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"id": "12345678901234567890"}', "[0.1234567890123456789]", "[1e20]"]
)
def test_other_documents_are(text: str) -> None:
    assert json_patch.is_document(text)


def test_documents_nested_too_deep_are_sent_whole() -> None:
    deep = orjson.loads("[" * 1000 + "]" * 1000)
    other = orjson.loads("[" * 1000 + "1" + "]" * 1000)
    patch = json_patch.diff(deep, other)
    assert patch is None or json_patch.apply(deep, json.loads(patch))
