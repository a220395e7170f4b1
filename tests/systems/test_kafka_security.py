from __future__ import annotations

import stat
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.java_properties import parse
from streamgauge.spec.secrets import shown_settings
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_locks import KafkaLocks
from streamgauge.systems.kafka_properties import new_nodes, server_properties
from streamgauge.systems.kafka_rights import Right
from streamgauge.systems.kafka_security import SECURITY_KINDS, KafkaSecurity, SecurityKind
from streamgauge.systems.ports import HOST


@pytest.fixture
def security(tmp_path: Path) -> KafkaSecurity:
    made = KafkaSecurity(tmp_path / "security", SECURITY_KINDS, acls=True)
    made.tokens_url = "http://127.0.0.1:1"
    return made


def secret_of(security: KafkaSecurity) -> str:
    return (security.folder / "format.args").read_text().partition("password=")[2].rstrip("]\n")


def test_every_way_in_is_a_listener_and_none_is_without_a_lock(security: KafkaSecurity) -> None:
    nodes = new_nodes(3, len(SECURITY_KINDS))
    properties = server_properties(nodes[0], nodes, Path("/data"), {}, security=security)
    assert "PLAINTEXT" not in str(properties)
    scram, oauth, mtls = nodes[0].door_ports
    own = f"SCRAM://{HOST}:{scram},OAUTH://{HOST}:{oauth},MTLS://{HOST}:{mtls},INTERNAL://{HOST}:"
    assert properties["advertised.listeners"] == f"{own}{nodes[0].client_port}"
    assert properties["inter.broker.listener.name"] == "INTERNAL"
    for name in ("internal", "controller", "mtls"):
        assert properties[f"listener.name.{name}.ssl.client.auth"] == "required"
    assert properties["super.users"] == "User:broker"
    assert len({port for node in nodes for port in node.door_ports}) == 9


def test_no_secret_is_in_what_a_broker_is_told_nor_in_an_argument(security: KafkaSecurity) -> None:
    nodes, secret = new_nodes(1, len(SECURITY_KINDS)), secret_of(security)
    assert len(secret) == 48
    properties = server_properties(nodes[0], nodes, Path("/data"), {}, security=security)
    told = f"{properties} {security.format_arguments()} {security.java_options()}"
    assert secret not in told
    assert "PRIVATE KEY" not in told
    assert shown_settings({"p": properties}, {})["p"] == properties, "there is nothing to be struck out"


def test_files_are_their_owners_alone_and_tell_where_to_go(security: KafkaSecurity) -> None:
    nodes = new_nodes(3, len(SECURITY_KINDS))
    security.write_client_files(nodes)
    assert stat.S_IMODE(security.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in security.folder.iterdir()} == {0o600}
    for number, kind in enumerate(SECURITY_KINDS):
        told = parse(security.client_file(kind).read_text())
        assert told["bootstrap.servers"] == ",".join(f"{HOST}:{n.door_ports[number]}" for n in nodes)
        assert (secret_of(security) in str(told)) == (kind != "mtls")


def test_a_proxy_would_be_a_door_without_a_lock(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"faults of links need a system without security"):
        KafkaCluster(log_dir=tmp_path, security=("mtls",)).equip(Equipment(links=True))


def test_what_is_not_asked_for_is_not_made(tmp_path: Path) -> None:
    security = KafkaSecurity(tmp_path / "security", ("mtls",), acls=False)
    assert sorted(file.name for file in security.folder.iterdir()) == ["broker.pem", "ca.pem", "client.pem"]
    assert security.format_arguments() == security.java_options() == []
    nodes = new_nodes(1, 1)
    properties = server_properties(nodes[0], nodes, Path("/data"), {}, security=security)
    assert "authorizer.class.name" not in properties
    assert not [name for name in properties if "sasl" in name]


@pytest.mark.parametrize(
    ("kinds", "acls", "without", "said"),
    [
        (("scram", "scram"), False, (), "each at most once"),
        ((), True, (), "system.acls: without system.security"),
        (("scram",), False, ("read",), "system.without: .*say acls: true"),
    ],
)
def test_locks_that_make_no_sense_are_refused(
    kinds: tuple[SecurityKind, ...], acls: bool, without: tuple[Right, ...], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        KafkaLocks(kinds, acls=acls, without=without)
