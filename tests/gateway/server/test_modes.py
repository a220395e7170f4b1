"""The four modes, their snapshots and deltas, over a real connection."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from .memory_source import MemorySource
from .raw_client import WebSocket
from .running import Running, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as started:
        yield started


def test_a_late_subscriber_of_a_merge_item_gets_what_it_is(server: Running) -> None:
    with WebSocket(server) as first, WebSocket(server) as late, WebSocket(server) as other:
        for client in (first, late, other):
            client.open_session()
        first.subscribe("merge", schema="n m")
        server.publish("merge", {"n": "1", "m": "x"}, {"n": "2"})
        assert first.lines(2) == ["U,1,1,1|x", "U,1,1,2|"]
        late.subscribe("merge", schema="n m", more="&LS_snapshot=true")
        assert late.line() == "U,1,1,2|x"
        other.subscribe("merge", schema="n m")
        server.publish("merge", {"n": "3"})
        assert [client.line() for client in (first, late, other)] == ["U,1,1,3|", "U,1,1,3|", "U,1,1,3|x"]
        server.publish("merge", {"m": None})
        assert [client.line() for client in (first, late, other)] == ["U,1,1,|#"] * 3


def test_a_cleared_merge_item_is_null(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.subscribe("cleared", schema="n m")
        server.publish("cleared", {"n": "1", "m": ""})
        server.call(server.source.listener.clear_snapshot, "cleared")
        assert client.lines(2) == ["U,1,1,1|$", "U,1,1,#|#"]


def test_a_late_subscriber_of_a_distinct_item_gets_its_newest_events(server: Running) -> None:
    with WebSocket(server) as first, WebSocket(server) as late, WebSocket(server) as two:
        for client in (first, late, two):
            client.open_session()
        first.subscribe("distinct", mode="DISTINCT", more="&LS_snapshot=true")
        assert first.line() == "EOS,1,1"
        server.publish("distinct", *[{"n": str(n)} for n in range(12)])
        assert first.lines(12)[-1] == "U,1,1,11"
        late.subscribe("distinct", mode="DISTINCT", more="&LS_snapshot=true")
        assert late.until("EOS") == [*[f"U,1,1,{n}" for n in range(2, 12)], "EOS,1,1"]
        two.subscribe("distinct", mode="DISTINCT", more="&LS_snapshot=2")
        assert two.until("EOS") == ["U,1,1,10", "U,1,1,11", "EOS,1,1"]
        server.call(server.source.listener.clear_snapshot, "distinct")
        server.publish("distinct", {"n": "12"})
        assert [client.lines(2) for client in (first, late, two)] == [["CS,1,1", "U,1,1,12"]] * 3


def test_a_raw_item_has_no_snapshot(server: Running) -> None:
    with WebSocket(server) as first, WebSocket(server) as late:
        first.open_session()
        late.open_session()
        first.subscribe("raw", mode="RAW", schema="n m")
        server.publish("raw", {"n": "1", "m": "x"}, {"m": "x"})
        assert first.lines(2) == ["U,1,1,1|x", "U,1,1,#|"]
        late.subscribe("raw", mode="RAW", schema="n m", more="&LS_snapshot=true")
        server.publish("raw", {"n": "1", "m": "x"})
        assert late.line() == "U,1,1,1|x"


def test_a_late_subscriber_of_a_command_item_gets_its_rows(server: Running) -> None:
    schema = "key command n"
    with WebSocket(server) as first, WebSocket(server) as late:
        first.open_session()
        late.open_session()
        first.subscribe("table", mode="COMMAND", schema=schema, more="&LS_snapshot=true")
        assert first.line() == "EOS,1,1"
        server.publish(
            "table",
            {"key": "a", "command": "ADD", "n": "1"},
            {"key": "b", "command": "ADD", "n": "2"},
            {"key": "a", "command": "ADD", "n": "3"},
            {"key": "c", "command": "UPDATE", "n": "4"},
            {"key": "b", "command": "DELETE"},
            {"key": "nobody", "command": "DELETE"},
        )
        assert first.lines(5) == [
            "U,1,1,a|ADD|1",
            "U,1,1,b||2",
            "U,1,1,a|UPDATE|3",
            "U,1,1,c|ADD|4",
            "U,1,1,b|DELETE|#",
        ]
        late.subscribe("table", mode="COMMAND", schema=schema, more="&LS_snapshot=true")
        assert late.until("EOS") == ["U,1,1,a|ADD|3", "U,1,1,c||4", "EOS,1,1"]
        server.publish("table", {"key": "a", "command": "DELETE"})
        assert first.line() == "U,1,1,a||"
        assert late.line() == "U,1,1,a|DELETE|#"


def test_the_end_of_a_snapshot_comes_from_a_source_that_has_one() -> None:
    with (
        running(source=MemorySource(snapshot=True)) as server,
        WebSocket(server) as client,
        WebSocket(server) as late,
    ):
        client.open_session()
        late.open_session()
        client.subscribe("s", mode="COMMAND", schema="key command", more="&LS_snapshot=true")
        server.publish("s", {"key": "a", "command": "ADD"})
        late.subscribe("s", mode="COMMAND", schema="key command", more="&LS_snapshot=true")
        server.publish("s", {"key": "b", "command": "ADD"})
        server.call(server.source.listener.end_of_snapshot, "s")
        server.publish("s", {"key": "c", "command": "ADD"})
        for each in (client, late):
            assert each.lines(4) == ["U,1,1,a|ADD", "U,1,1,b|", "EOS,1,1", "U,1,1,c|"]


def test_an_item_in_two_modes_at_once(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.subscribe("both", sub=1)
        client.subscribe("both", sub=2, mode="RAW", schema="n m")
        assert server.source.subscribed.count("both") == 1
        server.publish("both", {"n": "1"}, {"n": "1"})
        assert sorted(client.lines(4)) == ["U,1,1,", "U,1,1,1", "U,2,1,1|#", "U,2,1,|"]


def document(**changes: object) -> str:
    return json.dumps({"id": "Ann", "texts": ["x" * 200] * 4, "numbers": [1, 2, 3], **changes})


@pytest.mark.parametrize(
    ("order", "more", "protocol", "expected"),
    [
        (["jsonpatch"], "", 5, "^P"),
        (["diff_match_patch"], "", 5, "^T"),
        (["jsonpatch", "diff_match_patch"], "&LS_supported_diffs=P", 5, "^P"),
        (["jsonpatch", "diff_match_patch"], "&LS_supported_diffs=", 5, "{"),
        ([], "", 5, "{"),
        (["jsonpatch"], "", 3, "{"),
    ],
)
def test_differences_are_sent_to_those_who_understand_them(
    order: list[str], more: str, protocol: int, expected: str
) -> None:
    with (
        running({"default_diff_order": order, "jsonpatch_min_length": 500}) as server,
        WebSocket(server, protocol=f"TLCP-2.{protocol}.0.lightstreamer.com") as client,
    ):
        client.open_session(more)
        client.subscribe("document", schema="d")
        server.publish("document", {"d": document()}, {"d": document(numbers=[1, 2, 4])}, {"d": "short"})
        whole, changed, short = client.lines(3)
        assert whole == f"U,1,1,{document()}"
        assert changed.split(",", 3)[3].startswith(expected)
        assert short == "U,1,1,short"
