from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import Outside
from streamgauge.spec.system import SystemSpec
from streamgauge.systems import local_cluster
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from streamgauge.systems.embedded_kafka import ClusterInUse, EmbeddedKafka, KafkaClusterSpec
from streamgauge.systems.kafka_properties import Node
from streamgauge.systems.local_cluster import BrokerProcess, LocalCluster


def test_a_system_is_made_of_what_its_target_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_cluster, "status", lambda: None)
    wanted = SystemSpec.model_validate({"brokers": 3, "properties": {"auto.create.topics.enable": True}})
    made = EmbeddedKafka.of(wanted, tmp_path)
    assert isinstance(made, EmbeddedKafka)
    assert (made.brokers, made.log_dir, made._overrides) == (
        3,
        tmp_path,
        {"auto.create.topics.enable": "true"},
    )
    driver = AeronMediaDriver.of(
        SystemSpec.model_validate({"kind": "aeron_media_driver", "profile": "few_cores"}), tmp_path
    )
    assert isinstance(driver, AeronMediaDriver)


@pytest.mark.parametrize(
    ("wanted", "is_used"),
    [
        ({"brokers": 3, "security": "scram"}, True),
        ({"brokers": 1, "security": "scram"}, False),
        ({"brokers": 3, "security": "scram", "properties": {"a": 1}}, False),
        ({"brokers": 3}, False),
        ({"brokers": 3, "security": ["mtls", "scram"]}, False),
        ({"brokers": 3, "security": "scram", "acls": True}, False),
    ],
)
def test_a_cluster_that_is_up_is_used_if_it_is_as_wanted(
    wanted: dict[str, object], is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = LocalCluster(
        brokers=3,
        bootstrap="127.0.0.1:9",
        processes={"broker-1": BrokerProcess(4711, 0.0)},
        data="/no/such/data",
        logs="logs",
        ready=True,
        client_files={"scram": "scram.properties"},
    )
    monkeypatch.setattr(local_cluster, "status", lambda: running)
    made = EmbeddedKafka.of(KafkaClusterSpec.model_validate(wanted), tmp_path)
    assert isinstance(made, ClusterInUse) is is_used
    if is_used:
        with made:  # neither started nor stopped
            told = {"bootstrap": "127.0.0.1:9", "bootstrap_security": "scram.properties"}
            assert made.endpoints() == told
            assert made.processes() == {"broker-1": 4711}
            assert "the local cluster at 127.0.0.1:9 is gone" in str(made.ended())


def test_for_agents_on_other_hosts_it_is_one_of_the_runs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_cluster, "status", lambda: SimpleNamespace(brokers=1))
    outside = Outside("10.0.0.1", "token")
    made = EmbeddedKafka.of(KafkaClusterSpec(), tmp_path, outside)
    assert isinstance(made, EmbeddedKafka), "the local cluster is for this host alone"
    assert made.outside is outside
    made._nodes = [Node(1, 1, 2, "x", 3)]
    assert made.endpoints() == {"bootstrap": "127.0.0.1:1"}
    assert made.agents_endpoints() == {"bootstrap": "10.0.0.1:3", "bootstrap_login": "run_token"}


def test_locks_are_for_this_host_alone(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"system\.security: .*agents of this run may be on others"):
        EmbeddedKafka.of(KafkaClusterSpec(security=("mtls",)), tmp_path, Outside("10.0.0.1", "token"))


def test_heap_and_java_options_are_the_brokers_own(tmp_path: Path) -> None:
    spec = KafkaClusterSpec(heap="2g", java_options=("-XX:+UseZGC",))
    made = EmbeddedKafka.of(spec, tmp_path)
    assert isinstance(made, EmbeddedKafka), "the local cluster, if one is up, has others"
    flags = made._jvm_flags()
    assert flags[:2] == ["-Xms2g", "-Xmx2g"]
    assert flags[-1] == "-XX:+UseZGC"


@pytest.mark.parametrize(
    "wrong",
    [{"heap": "much"}, {"java_options": ["-Xmx2g"]}, {"java_options": ["x"]}, {"java_options": ["-cp"]}],
)
def test_java_options_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KafkaClusterSpec.model_validate(wrong)


def test_a_cluster_without_locks_loads_no_cryptography() -> None:
    """Every launcher loads this; most of them for such a cluster."""
    code = "import streamgauge.systems.embedded_kafka, sys; print('cryptography' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"
