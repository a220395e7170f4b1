from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamgauge.cli.cluster import cluster_app
from streamgauge.core.errors import BadInput
from streamgauge.spec.loading import load_target
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
    monkeypatch.setattr(local_cluster, "up", lambda brokers, **locks: UP)
    result = CliRunner().invoke(cluster_app, ["up", "--brokers", "3"])
    assert result.exit_code == 0
    assert result.stdout == UP.bootstrap + "\n"
    assert "3 brokers" in result.stderr


def test_locks_are_asked_for_and_targets_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[dict[str, object]] = []
    files = {kind: str(tmp_path / f"{kind}.properties") for kind in ("scram", "mtls")}
    locked = replace(UP, client_files=files, acls=True, without=("read",))

    def up(brokers: int, **locks: object) -> LocalCluster:
        asked.append(locks)
        return locked

    monkeypatch.setattr(local_cluster, "up", up)
    monkeypatch.setattr(local_cluster, "status", lambda: locked)
    flags = ["--security", "scram", "--security", "mtls", "--acls", "--without", "read"]
    result = CliRunner().invoke(cluster_app, ["up", *flags])
    assert result.exit_code == 0, result.output
    assert result.stdout == UP.bootstrap + "\n"
    assert asked == [{"security": ("scram", "mtls"), "acls": True, "without": ("read",)}]
    assert "with security scram, mtls with ACLs but no right to read" in result.stderr
    for kind, file in files.items():
        path = tmp_path / f"{kind}.yaml"
        assert f"--target {path}" in result.stderr
        assert path.stat().st_mode & 0o777 == 0o600
        target = load_target(path)
        assert (target.name, target.settings) == (kind, {"security_file": file})
    told = json.loads(CliRunner().invoke(cluster_app, ["status", "--json"]).stdout)
    assert told["locks"] == {"security": ["scram", "mtls"], "acls": True, "without": ["read"]}
    assert told["client_files"] == files
    assert files["mtls"] in CliRunner().invoke(cluster_app, ["status"]).stdout


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ["--security", "plain"],
            r"cluster up: security\.0: must be 'scram', 'oauth' or 'mtls', not 'plain'",
        ),
        (["--acls"], r"system\.acls: without system\.security"),
        (["--security", "mtls", "--without", "read"], r"say acls: true"),
        (["--security", "mtls", "--acls", "--without", "fly"], r"without\.0: must be 'create'"),
    ],
)
def test_locks_that_there_are_not_are_refused(flags: list[str], said: str) -> None:
    result = CliRunner().invoke(cluster_app, ["up", *flags])
    assert isinstance(result.exception, BadInput)
    assert re.search(said, str(result.exception)), result.exception


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
