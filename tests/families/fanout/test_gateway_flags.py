"""`fanout` against a gateway that runs: its flags make the workload."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from streamgauge.core.errors import BadInput
from streamgauge.families.fanout.gateway_flags import access_settings
from tests.cli.streamgauge_command import in_process

RUNS = ("--gateway", "https://gw.example.org", "--topic", "t", "--bootstrap", "h:1")


def test_only_what_is_given_is_set_and_a_password_is_no_flag(tmp_path: Path) -> None:
    assert access_settings(None, None, None, None, None) == {}
    (tmp_path / "ca.pem").touch()
    assert access_settings("S", "D", "raw", "me", tmp_path / "ca.pem") == {
        "adapter_set": "S",
        "data_adapter": "D",
        "mode": "RAW",
        "user": "me",
        "password": "${STREAMGAUGE_GATEWAY_PASSWORD}",
        "ca": str(tmp_path / "ca.pem"),
    }
    with pytest.raises(BadInput, match=r"--gateway-ca .*: there is no such file"):
        access_settings(None, None, None, None, tmp_path / "nowhere.pem")


def test_the_workload_has_them(tmp_path: Path) -> None:
    flags = ("--adapter-set", "S", "--data-adapter", "D", "--mode", "distinct", "--gateway-user", "me")
    done = in_process("fanout", *RUNS, *flags, "--print-workload")
    assert done.returncode == 0, done.stderr
    [target] = yaml.safe_load(done.stdout)["targets"]
    assert target["settings"] == {
        "bootstrap": "h:1",
        "gateway": "https://gw.example.org",
        "adapter_set": "S",
        "data_adapter": "D",
        "mode": "DISTINCT",
        "user": "me",
        "password": "${STREAMGAUGE_GATEWAY_PASSWORD}",
    }


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--data-adapter", "D"), "--data-adapter: is for a gateway that runs: give --gateway, too"),
        (("--gateway-user", "me"), "--gateway-user: is for a gateway that runs"),
        (("--mode", "command"), "--mode COMMAND: no scenario's messages have a command"),
        ((*RUNS, "--mode", "sideways"), "MERGE"),
        (("--gateway", "gw:80", "--topic", "t", "--bootstrap", "h:1"), "is no address of a gateway"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_starts(flags: tuple[str, ...], why: str) -> None:
    done = in_process("fanout", *flags)
    assert done.returncode == 2
    assert why in done.stderr
