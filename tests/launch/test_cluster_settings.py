from __future__ import annotations

import socket
import time
from typing import Any, cast

import pytest

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.core.outside import own_address
from streamgauge.launch import cluster_settings as slots
from streamgauge.launch.cluster_settings import (
    check_anybody_came,
    cluster_settings,
    launcher_address,
    settled_slots,
    slots_within_deadline,
)
from streamgauge.launch.standalone import check_free


@pytest.fixture
def listening() -> object:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_standalone_master_gets_our_secret_and_not_as_a_setting(
    listening: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_SECRET", "a-secret-of-some-length")
    made = cluster_settings(f"spark://127.0.0.1:{listening}", 2)
    assert made.secrets == {"spark.authenticate.secret": "a-secret-of-some-length"}
    assert "a-secret-of-some-length" not in {*made.settings.values(), *made.environment.values()}
    assert made.settings["spark.authenticate"] == "true"
    assert made.settings["spark.driver.host"] == "127.0.0.1"


def test_the_launchers_address_is_the_one_towards_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    assert launcher_address("local[4]") is None
    assert launcher_address("spark://127.0.0.1:7077") == "127.0.0.1"
    assert own_address("127.0.0.5") == "127.0.0.1"
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.1.2.3")
    assert launcher_address("k8s://https://somewhere") == "10.1.2.3"


@pytest.mark.parametrize(
    ("master", "said"),
    [
        ("spark://", "no host"),
        ("spark://host:port", "spark://HOST:PORT"),
        ("spark://127.0.0.1:1", "nothing answers there"),
        ("spark://no.such.host.invalid:7077", "nothing answers there"),
    ],
)
def test_a_master_that_is_none(master: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        cluster_settings(master, 1)


def test_a_port_in_use_is_said(listening: int) -> None:
    with pytest.raises(BadInput, match="cannot listen there"):
        check_free("127.0.0.1", listening)


def test_a_cluster_from_which_nobody_reaches_us_is_no_matter_of_slots() -> None:
    with pytest.raises(Unreachable, match=r"no follower took the run .* reach this host \(10\.0\.0\.1\)"):
        check_anybody_came(0, "spark://10.0.0.9:7077", "10.0.0.1")
    check_anybody_came(1, "spark://10.0.0.9:7077", "10.0.0.1")


def test_who_names_hosts_waits_for_followers_that_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors come one by one; after each, more may, for as long as is waited."""
    now_s, session = [0.0], cast(Any, None)
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(time, "sleep", lambda s: now_s.__setitem__(0, now_s[0] + s))
    monkeypatch.setattr(slots, "concurrent_slots", lambda _: sum(now_s[0] >= at for at in (1, 2, 9, 18)) * 3)
    assert slots_within_deadline(session, 5) == 6
    now_s[0] = 0.0
    assert settled_slots(session) == 12
