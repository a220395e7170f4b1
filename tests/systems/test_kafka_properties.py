from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import Outside
from streamgauge.spec.secrets import shown_settings
from streamgauge.systems.kafka_properties import (
    check_brokers,
    new_nodes,
    new_uuid,
    server_properties,
    with_identity,
)
from streamgauge.systems.ports import HOST


@pytest.mark.parametrize(("brokers", "copies", "in_sync"), [(1, "1", "1"), (3, "3", "2"), (5, "3", "2")])
def test_internal_topics_fit_the_broker_count(brokers: int, copies: str, in_sync: str) -> None:
    nodes = new_nodes(brokers)
    properties = server_properties(nodes[0], nodes, Path("/data"), {})
    for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        assert properties[f"{topic}.replication.factor"] == copies
        assert properties[f"{topic}.num.partitions"] == "5"
    assert properties["transaction.state.log.min.isr"] == in_sync
    assert properties["share.coordinator.state.topic.min.isr"] == in_sync


def test_every_node_knows_all_controllers_and_only_its_own_listeners() -> None:
    nodes = new_nodes(3)
    all_properties = [server_properties(node, nodes, Path("/data"), {}) for node in nodes]
    assert [properties["node.id"] for properties in all_properties] == ["1", "2", "3"]
    controllers = ",".join(f"{HOST}:{node.controller_port}" for node in nodes)
    assert {p["controller.quorum.bootstrap.servers"] for p in all_properties} == {controllers}
    assert all_properties[1]["advertised.listeners"] == f"PLAINTEXT://{HOST}:{nodes[1].client_port}"
    assert len({node.directory_id for node in nodes}) == 3


def test_an_address_for_other_hosts_wants_a_login_and_hides_it() -> None:
    nodes = new_nodes(1)
    outside = Outside("10.0.0.1", "token" * 10)
    properties = server_properties(nodes[0], nodes, Path("/data"), {}, outside)
    place = f"OUTSIDE://10.0.0.1:{nodes[0].outside_port}"
    assert properties["listeners"].endswith(f",{place}")
    assert properties["advertised.listeners"] == f"PLAINTEXT://{HOST}:{nodes[0].client_port},{place}"
    assert properties["listener.security.protocol.map"].endswith("OUTSIDE:SASL_PLAINTEXT")
    login = properties["listener.name.outside.plain.sasl.jaas.config"]
    assert outside.token in login
    assert outside.token not in str(shown_settings({"properties": {"broker-1": properties}}, {}))


def test_agents_come_through_a_link_and_brokers_among_themselves_do_not() -> None:
    nodes = new_nodes(1)
    node = nodes[0]

    properties = server_properties(node, nodes, Path("/data"), {}, link_port=4711)

    assert properties["listeners"].endswith(f",LINKED://{HOST}:{node.outside_port}")
    plain = f"PLAINTEXT://{HOST}:{node.client_port}"
    assert properties["advertised.listeners"] == f"{plain},LINKED://{HOST}:4711"
    assert properties["inter.broker.listener.name"] == "PLAINTEXT"
    outside = server_properties(node, nodes, Path("/data"), {}, Outside("10.0.0.1", "t"), link_port=4711)
    assert outside["listeners"].endswith(f",OUTSIDE://10.0.0.1:{node.outside_port}")
    assert outside["advertised.listeners"] == f"{plain},OUTSIDE://10.0.0.1:4711"


def test_overrides_win_except_over_the_wiring() -> None:
    nodes = new_nodes(1)
    properties = server_properties(
        nodes[0], nodes, Path("/d"), {"num.io.threads": "2", "log.retention.ms": "1"}
    )
    assert properties["num.io.threads"] == "2"
    for name in ("listeners", "node.id", "controller.quorum.voters", "log.dirs"):
        with pytest.raises(BadInput, match=re.escape(name)):
            server_properties(nodes[0], nodes, Path("/d"), {name: "x"})


def test_defaults_that_matter() -> None:
    nodes = new_nodes(1)
    properties = server_properties(nodes[0], nodes, Path("/d"), {})
    assert properties["auto.create.topics.enable"] == "false"
    assert properties["group.initial.rebalance.delay.ms"] == "0"


def test_a_data_folder_with_a_comma_is_refused() -> None:
    nodes = new_nodes(1)
    with pytest.raises(BadInput, match="comma"):
        server_properties(nodes[0], nodes, Path("/a,b"), {})


@pytest.mark.parametrize("count", [0, 2, 4, 6, -1])
def test_broker_counts_that_cannot_vote_are_refused(count: int) -> None:
    with pytest.raises(BadInput, match="1, 3 or 5"):
        check_brokers(count)


def test_uuids_are_16_bytes_and_never_look_like_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([b"\xfb" + bytes(15), b"\xff" * 16])
    monkeypatch.setattr(os, "urandom", lambda count: next(draws))
    text = new_uuid()
    assert base64.urlsafe_b64decode(text + "==") == b"\xff" * 16
    assert not text.startswith("-")


def test_identity_is_replaced_and_nothing_else() -> None:
    node = new_nodes(3)[2]
    text = "#\nnode.id=1\ndirectory.id=abc\nversion=1\ncluster.id=xyz\n"
    assert with_identity(text, node) == (
        f"#\nnode.id=3\ndirectory.id={node.directory_id}\nversion=1\ncluster.id=xyz\n"
    )
