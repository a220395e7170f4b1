from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamgauge.cli.cluster import cluster_app
from streamgauge.core.errors import BadInput
from streamgauge.systems import local_cluster
from streamgauge.systems.local_cluster import BrokerProcess, LocalCluster

UP = LocalCluster(
    brokers=3,
    bootstrap="127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
    processes={"broker-1": BrokerProcess(11, 0.0)},
    data="data",
    logs="logs",
    ready=True,
)


@pytest.fixture(autouse=True)
def state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path))


def test_up_prints_the_address_alone_on_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_cluster, "up", lambda brokers: UP)
    result = CliRunner().invoke(cluster_app, ["up", "--brokers", "3"])
    assert result.exit_code == 0
    assert result.stdout == UP.bootstrap + "\n"
    assert "3 brokers" in result.stderr


def test_status_of_a_cluster_that_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_cluster, "status", lambda: UP)
    assert "broker-1 pid 11" in CliRunner().invoke(cluster_app, ["status"]).stdout
    result = CliRunner().invoke(cluster_app, ["status", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["bootstrap"] == UP.bootstrap


def test_status_when_none_is_up() -> None:
    result = CliRunner().invoke(cluster_app, ["status"])
    assert (result.exit_code, result.stdout) == (3, "")
    assert "streamgauge cluster up" in result.stderr
    result = CliRunner().invoke(cluster_app, ["status", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.stdout) == {"up": False}


def test_down_when_none_is_up() -> None:
    result = CliRunner().invoke(cluster_app, ["down"])
    assert result.exit_code == 0
    assert "no local cluster was up" in result.stderr


def test_bad_input_reaches_the_caller_as_ours() -> None:
    result = CliRunner().invoke(cluster_app, ["up", "--brokers", "2"])
    assert isinstance(result.exception, BadInput)
