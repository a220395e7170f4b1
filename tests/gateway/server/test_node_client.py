"""Lightstreamer's own Node client, unchanged, against the server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from .node_client import connected
from .running import Running, running

TRICKY = [None, "", "#", "$", "^3", "^Pxx", "^Tab", "a|b", "100%", "%7C", "x\r\ny", "é€ 😀", ",", "a,b"]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running({"default_diff_order": ["jsonpatch"], "jsonpatch_min_length": 50}) as started:
        yield started


@pytest.mark.parametrize("transport", ["WS-STREAMING", "HTTP-STREAMING", "HTTP-POLLING", "WS-POLLING"])
def test_all_modes_on_all_transports(server: Running, transport: str) -> None:
    def item(mode: str) -> str:
        return f"node-{transport}-{mode}"

    with connected(server, transport=transport) as client:
        client.wait_for_state(f"CONNECTED:{transport}")
        client.follow("merge", "MERGE", [item("m")], ["n", "m"], Snapshot="yes")
        client.follow("distinct", "DISTINCT", [item("d")], ["n"], Snapshot="yes")
        client.follow("raw", "RAW", [item("r")], ["n"])
        client.follow("table", "COMMAND", [item("c")], ["key", "command", "n"], Snapshot="yes")
        for n in range(3):
            server.publish(item("m"), {"n": str(n), "m": "same"})
            server.publish(item("d"), {"n": str(n)})
            server.publish(item("r"), {"n": str(n)})
            server.publish(item("c"), {"key": "ab"[n % 2], "command": "ADD", "n": str(n)})
        assert client.wait_for_value("merge", "2") == [[str(n), "same"] for n in range(3)]
        assert client.wait_for_value("distinct", "2") == [[str(n)] for n in range(3)]
        assert client.wait_for_value("raw", "2") == [[str(n)] for n in range(3)]
        assert client.wait_for_value("table", "2", 2) == [
            ["a", "ADD", "0"],
            ["b", "ADD", "1"],
            ["a", "UPDATE", "2"],
        ]


def test_snapshots_for_who_comes_late(server: Running) -> None:
    with connected(server) as first, connected(server) as late:
        first.follow("merge", "MERGE", ["node-late-m"], ["n"])
        first.follow("table", "COMMAND", ["node-late-c"], ["key", "command"])
        for n in range(3):
            server.publish("node-late-m", {"n": str(n)})
            server.publish("node-late-c", {"key": str(n), "command": "ADD"})
        first.wait_for_value("table", "2")
        late.follow("merge", "MERGE", ["node-late-m"], ["n"], Snapshot="yes")
        late.follow("table", "COMMAND", ["node-late-c"], ["key", "command"], Snapshot="yes")
        late.wait_for("merge", "update", "node-late-m", True, ["2"])
        late.wait_for("table", "end of snapshot", "node-late-c")
        assert late.rows("table") == [[str(n), "ADD"] for n in range(3)]


def test_values_and_patches_arrive_as_they_were(server: Running) -> None:
    documents = [
        {"id": "Ann", "texts": ["x" * 256] * 4, "numbers": [n, 2.5, 3], "more": [None] * n} for n in range(6)
    ]
    with connected(server) as client:
        client.follow("values", "MERGE", ["node-values"], ["n", "value", "other"])
        client.follow("documents", "MERGE", ["node-documents"], ["n", "document"])
        rows = [[str(n), value, TRICKY[-n]] for n, value in enumerate(TRICKY)]
        for row in rows:
            server.publish("node-values", dict(zip(("n", "value", "other"), row, strict=True)))
        assert client.wait_for_value("values", rows[-1][0] or "") == rows
        before = server.metric("sent_bytes_total")
        for n, document in enumerate(documents):
            server.publish("node-documents", {"n": str(n), "document": json.dumps(document)})
        got = client.wait_for_value("documents", "5")
        assert [json.loads(row[1] or "") for row in got] == documents
        assert server.metric("sent_bytes_total") - before < 2 * len(json.dumps(documents[0]))


def test_a_frequency_and_its_change(server: Running) -> None:
    with connected(server) as client:
        client.follow("slow", "MERGE", ["node-often"], ["n"], MaxFrequency="2")
        client.wait_for("slow", "frequency", "2")
        for n in range(50):
            server.publish("node-often", {"n": str(n)})
        assert len(client.wait_for_value("slow", "49")) < 25
        client.order("frequency", name="slow", value="unlimited")
        client.wait_for("slow", "frequency", "unlimited")
        server.publish("node-often", {"n": "50"}, {"n": "51"})
        assert client.wait_for_value("slow", "51")[-2:] == [["50"], ["51"]]


def test_unsubscribing_and_refusals(server: Running) -> None:
    with connected(server) as client:
        client.follow("gone", "MERGE", ["node-gone"], ["n"])
        client.order("subscribe", name="bad", mode="MERGE", items=["no-such"], fields=["n"], options={})
        client.wait_for("bad", "refused", -7, "no-such, of all things, cannot be had")
        client.order("unsubscribe", name="gone")
        client.wait_for("gone", "unsubscribed")
        server.wait_until(lambda: "node-gone" not in server.source.subscribed)


def test_a_cut_connection_is_recovered_without_loss_or_repetition(server: Running) -> None:
    with connected(server) as client:
        for mode in ("MERGE", "DISTINCT", "RAW"):
            client.follow(mode, mode, [f"node-cut-{mode}"], ["n"])
        client.follow("table", "COMMAND", ["node-cut-table"], ["key", "command", "n"])
        number = 0

        def publish(count: int) -> None:
            nonlocal number
            for _ in range(count):
                for mode in ("MERGE", "DISTINCT", "RAW"):
                    server.publish(f"node-cut-{mode}", {"n": str(number)})
                server.publish("node-cut-table", {"key": str(number % 3), "command": "ADD", "n": str(number)})
                number += 1

        for cut in range(3):
            publish(20)
            server.cut()
            publish(20)
            client.wait_for_state("CONNECTED:WS-STREAMING", times=cut + 2)
        publish(20)
        for mode in ("MERGE", "DISTINCT", "RAW"):
            assert client.wait_for_value(mode, str(number - 1)) == [[str(n)] for n in range(number)]
        rows = client.wait_for_value("table", str(number - 1), 2)
        assert [row[2] for row in rows] == [str(n) for n in range(number)]
        assert server.metric("recoveries_total") >= 3
