"""Lightstreamer's own Python client, unchanged, against the server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from lightstreamer.client import ClientMessageListener

from streamgauge.gateway.server.contract import NotAuthorized
from streamgauge.gateway.server.items import Items

from .python_client import Client, Followed, Notes, connected, hasty
from .running import Running, running

TRANSPORTS = ["WS-STREAMING", "HTTP-STREAMING", "HTTP-POLLING", "WS-POLLING"]
TRICKY = [None, "", "#", "$", "^3", "^Pxx", "^Tab", "a|b", "100%", "%7C", "x\r\ny", "é€ 😀", ",", "a,b"]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running({"default_diff_order": ["jsonpatch"], "jsonpatch_min_length": 50}) as started:
        yield started


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_all_modes_on_all_transports(server: Running, transport: str) -> None:
    def item(mode: str) -> str:
        return f"{transport}-{mode}"

    with connected(server, transport=transport) as client:
        client.wait_for_state(f"CONNECTED:{transport}")
        merge = client.follow(Followed("MERGE", [item("m"), item("m2")], ["n", "m"], Snapshot="yes"))
        distinct = client.follow(Followed("DISTINCT", [item("d")], ["n"], Snapshot="yes"))
        raw = client.follow(Followed("RAW", [item("r")], ["n"]))
        table = client.follow(Followed("COMMAND", [item("c")], ["key", "command", "n"], Snapshot="yes"))
        for followed in (merge, distinct, raw, table):
            followed.wait_for("subscribed")
        for n in range(3):
            server.publish(item("m"), {"n": str(n), "m": "same"})
            server.publish(item("m2"), {"n": str(n), "m": None})
            server.publish(item("d"), {"n": str(n)})
            server.publish(item("r"), {"n": str(n)})
            server.publish(item("c"), {"key": "ab"[n % 2], "command": "ADD", "n": str(n)})
        server.publish(item("c"), {"key": "b", "command": "DELETE"})
        merge.wait_for_updates(6)
        assert merge.updates(item("m")) == [("0", "same"), ("1", "same"), ("2", "same")]
        assert merge.updates(item("m2")) == [("0", None), ("1", None), ("2", None)]
        assert distinct.wait_for_updates(3) == [("0",), ("1",), ("2",)]
        assert raw.wait_for_updates(3) == [("0",), ("1",), ("2",)]
        assert table.wait_for_updates(4) == [
            ("a", "ADD", "0"),
            ("b", "ADD", "1"),
            ("a", "UPDATE", "2"),
            ("b", "DELETE", None),
        ]


def test_snapshots_for_who_comes_late(server: Running) -> None:
    with connected(server) as first, connected(server) as late:
        early = first.follow(Followed("MERGE", ["late-m"], ["n"]))
        first.follow(Followed("COMMAND", ["late-c"], ["key", "command", "n"])).wait_for("subscribed")
        first.follow(Followed("DISTINCT", ["late-d"], ["n"])).wait_for("subscribed")
        early.wait_for("subscribed")
        for n in range(3):
            server.publish("late-m", {"n": str(n)})
            server.publish("late-c", {"key": str(n), "command": "ADD", "n": "x"})
            server.publish("late-d", {"n": str(n)})
        early.wait_for_value("2")
        merge = late.follow(Followed("MERGE", ["late-m"], ["n"], Snapshot="yes"))
        table = late.follow(Followed("COMMAND", ["late-c"], ["key", "command", "n"], Snapshot="yes"))
        distinct = late.follow(Followed("DISTINCT", ["late-d"], ["n"], Snapshot="2"))
        merge.wait_for("update", "late-m", True, ("2",))
        table.wait_for("end of snapshot", "late-c")
        distinct.wait_for("end of snapshot", "late-d")
        assert [note for note in table.notes.all() if note[0] == "update"] == [  # type: ignore[index]
            ("update", "late-c", True, (str(n), "ADD", "x")) for n in range(3)
        ]
        assert distinct.updates() == [("1",), ("2",)]
        server.publish("late-c", {"key": "1", "command": "DELETE"})
        table.wait_for("update", "late-c", False, ("1", "DELETE", None))
        server.call(server.source.listener.clear_snapshot, "late-d")
        distinct.wait_for("cleared", "late-d")


def test_any_value_arrives_as_it_was(server: Running) -> None:
    with connected(server) as client:
        followed = client.follow(Followed("MERGE", ["values"], ["n", "value", "other"]))
        followed.wait_for("subscribed")
        rows = [(str(n), value, TRICKY[-n]) for n, value in enumerate(TRICKY)]
        for row in rows:
            server.publish("values", dict(zip(("n", "value", "other"), row, strict=True)))
        assert followed.wait_for_updates(len(rows)) == rows


def test_patches_lead_to_the_same_documents(server: Running) -> None:
    documents = [
        {"id": "Ann", "texts": ["x" * 256] * 4, "numbers": [n, 2, 3], "at": f"10:00:0{n}", "more": [None] * n}
        for n in range(6)
    ]
    with connected(server) as client:
        followed = client.follow(Followed("MERGE", ["documents"], ["document"]))
        followed.wait_for("subscribed")
        before = server.metric("sent_bytes_total")
        for document in documents:
            server.publish("documents", {"document": json.dumps(document)})
        rows = followed.wait_for_updates(len(documents))
        assert [json.loads(row[0] or "") for row in rows] == documents
        # One document whole, then only what changed.
        assert server.metric("sent_bytes_total") - before < 2 * len(json.dumps(documents[0]))


def test_text_differences_lead_to_the_same_texts() -> None:
    texts = ["a" * 40 + str(n) * n + "z" * 40 + "é" * (n % 3) for n in range(8)] + ["other", "", "a" * 90]
    with running({"default_diff_order": ["diff_match_patch"]}) as server, connected(server) as client:
        followed = client.follow(Followed("MERGE", ["texts"], ["text"]))
        followed.wait_for("subscribed")
        for text in texts:
            server.publish("texts", {"text": text})
        assert followed.wait_for_updates(len(texts)) == [(text,) for text in texts]


def test_a_frequency_thins_out_updates_and_the_last_one_arrives(server: Running) -> None:
    with connected(server) as client:
        slow = client.follow(Followed("MERGE", ["often"], ["n"], MaxFrequency="2"))
        whole = client.follow(Followed("MERGE", ["often"], ["n"], MaxFrequency="unfiltered"))
        slow.wait_for("frequency", "2")
        whole.wait_for("subscribed")
        for n in range(50):
            server.publish("often", {"n": str(n)})
        assert len(whole.wait_for_value("49")) == 50
        rows = slow.wait_for_value("49")
        assert rows[0] == ("0",)
        assert len(rows) < 25
        slow.subscription.setRequestedMaxFrequency("unlimited")
        slow.wait_for("frequency", "unlimited")
        server.publish("often", {"n": "50"}, {"n": "51"})
        assert slow.wait_for_value("51")[-2:] == [("50",), ("51",)]


def test_a_bandwidth_can_be_set_and_changed(server: Running) -> None:
    def limit(client) -> None:
        client.connectionOptions.setRequestedMaxBandwidth(8)

    with connected(server, prepare=limit) as client:
        client.wait_for_property("realMaxBandwidth")
        assert client.lightstreamer.connectionOptions.getRealMaxBandwidth() == "8"
        followed = client.follow(Followed("MERGE", ["wide"], ["n", "filler"]))
        followed.wait_for("subscribed")
        for n in range(100):
            server.publish("wide", {"n": str(n), "filler": f"{n:0200d}"})
        # A thousand bytes a second are not enough for all of them; the newest arrives.
        rows = followed.wait_for_value("99")
        assert len(rows) < 50
        client.lightstreamer.connectionOptions.setRequestedMaxBandwidth("unlimited")
        server.wait_until(lambda: all(s.budget is None for s in server.server.gateway.sessions.values()))
        server.publish("wide", *[{"n": str(n), "filler": "x"} for n in range(100, 200)])
        assert len(followed.wait_for_value("199")) == len(rows) + 100


def test_after_unsubscribing_nothing_comes(server: Running) -> None:
    with connected(server) as client:
        gone = client.follow(Followed("MERGE", ["gone"], ["n"]))
        stays = client.follow(Followed("MERGE", ["gone"], ["n"]))
        stays.wait_for("subscribed")
        server.publish("gone", {"n": "1"})
        gone.wait_for_updates(1)
        client.lightstreamer.unsubscribe(gone.subscription)
        gone.wait_for("unsubscribed")
        items = server.source.listener
        assert isinstance(items, Items)
        server.wait_until(lambda: len(items.feed("gone", "MERGE").followers) == 1)
        server.publish("gone", {"n": "2"})
        stays.wait_for_value("2")
        assert gone.updates() == [("1",)]


def test_what_is_refused_is_told_with_its_code(server: Running) -> None:
    with connected(server) as client:
        refused = client.follow(Followed("MERGE", ["no-such"], ["n"]))
        refused.wait_for("refused", -7, "no-such, of all things, cannot be had")
        keyless = client.follow(Followed("COMMAND", ["x"], ["key", "command"]))
        keyless.wait_for("subscribed")


def test_a_cut_connection_is_recovered_without_loss_or_repetition(server: Running) -> None:
    modes = ("MERGE", "DISTINCT", "RAW")
    with connected(server, prepare=hasty) as client:
        followed = {mode: client.follow(Followed(mode, [f"cut-{mode}"], ["n"])) for mode in modes}
        table = client.follow(Followed("COMMAND", ["cut-table"], ["key", "command", "n"]))
        for each in (*followed.values(), table):
            each.wait_for("subscribed")
        sessions = server.call(lambda: set(server.server.gateway.sessions))
        number = 0

        def publish(count: int) -> None:
            nonlocal number
            for _ in range(count):
                for mode in modes:
                    server.publish(f"cut-{mode}", {"n": str(number)})
                server.publish("cut-table", {"key": str(number % 3), "command": "ADD", "n": str(number)})
                number += 1

        for cut in range(2):
            publish(20)
            server.cut()
            publish(20)
            client.wait_for_state("CONNECTED:WS-STREAMING", times=cut + 2)
        publish(20)
        for each in followed.values():
            assert each.wait_for_value(str(number - 1)) == [(str(n),) for n in range(number)]
        assert [row[2] for row in table.wait_for_value(str(number - 1), 2)] == [str(n) for n in range(number)]
        assert server.call(lambda: set(server.server.gateway.sessions)) == sessions
        assert server.metric("recoveries_total") >= 2


def test_a_session_that_cannot_be_recovered_is_replaced() -> None:
    settings = {"limits": {"recovery_bytes": 4096, "backlog_bytes": 4096}}
    with running(settings) as server, connected(server) as client:
        followed = client.follow(Followed("MERGE", ["much"], ["n"], Snapshot="yes"))
        followed.wait_for("subscribed")
        old = server.call(lambda: next(iter(server.server.gateway.sessions)))

        def cut_with_much_under_way() -> None:
            # The abort is seen by the client before what is written here.
            session = server.server.gateway.sessions[old]
            assert session.link is not None
            session.link.abort()
            for n in range(100):
                server.source.listener.publish("much", {"n": f"{n:0500d}"})
            server.server.gateway.delivery.flush()

        server.call(cut_with_much_under_way)
        followed.wait_for_value(f"{99:0500d}")
        server.wait_until(lambda: len(server.server.gateway.sessions) == 1)


def test_who_may_not_come_is_told_why() -> None:
    class Doorman:
        def authenticate(self, user: str | None, password: str | None, address: str) -> None:
            if (user, password) != ("ann", "secret, with a comma"):
                raise NotAuthorized("wrong, sorry", -3)

    def as_ann(client) -> None:
        client.connectionDetails.setUser("ann")
        client.connectionDetails.setPassword("secret, with a comma")

    with running(authenticator=Doorman()) as server:
        with connected(server, prepare=as_ann) as client:
            client.follow(Followed("MERGE", ["x"], ["n"])).wait_for("subscribed")
        stranger = Client(server, "TEST")
        stranger.lightstreamer.connect()
        stranger.notes.wait(lambda told: ("server error", -3, "wrong, sorry") in told)
        stranger.lightstreamer.disconnect()


def test_messages_are_answered() -> None:
    with running(message_handler=lambda user, text: f"got {text}") as server, connected(server) as client:
        notes = Notes()

        class Listener(ClientMessageListener):
            def onProcessed(self, text: str, response: str) -> None:
                notes.add((text, response))

        for n in range(3):
            client.lightstreamer.sendMessage(f"hello, {n}", "chat", 1000, Listener(), True)
        assert notes.wait(lambda told: len(told) == 3) == [
            (f"hello, {n}", f"got hello, {n}") for n in range(3)
        ]
