"""Push sessions against a server in the test's process, read by either loop."""

from __future__ import annotations

import gc
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.push.access import GatewayAccess, Mode, parse_gateway
from streamgauge.drivers.push.opening import open_swarm
from streamgauge.drivers.push.swarm import PushSwarm
from streamgauge.drivers.swarm import SwarmOptions
from streamgauge.gateway.server.authentication import Users, hash_token
from tests.gateway.connector.certificates import authority, signed_by
from tests.gateway.server.memory_source import MemorySource
from tests.gateway.server.running import ADAPTER_SET, Running, running

DEADLINE_S = 30.0
LOOPS = ("native", "python")
TOKEN = "a token of twenty letters"


def made(loop: str, wanted: SwarmOptions, heard: Any, to: GatewayAccess) -> PushSwarm:
    swarm = open_swarm(wanted, heard, to, as_objects=loop == "python")
    if swarm.loop != loop:
        swarm.close()
        pytest.skip("no compiled loop here")
    return swarm


def options(count: int, **more: Any) -> SwarmOptions:
    usual: dict[str, Any] = {
        "first": 0,
        "keys": (0,) * count,
        "key_names": (),
        "measured": frozenset({0}),
        "topic": "t",
        "start": {},
        "kind": "base",
        "group": None,
        "parse_json": False,
        "item": "ltest",
        "fields": ("value",),
        "max_frequency": "unfiltered",
        "ramp_up_per_s": 1000.0,
    }
    return SwarmOptions(**{**usual, **more})


def access(server: Running, **more: Any) -> GatewayAccess:
    return GatewayAccess(parse_gateway(server.address), ADAPTER_SET, **more)


@pytest.fixture
def heard() -> list[tuple[int, str, int]]:
    return []


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def swarms() -> Iterator[list[PushSwarm]]:
    made: list[PushSwarm] = []
    yield made
    for swarm in made:
        swarm.close()


def connected(swarm: PushSwarm, swarms: list[PushSwarm]) -> PushSwarm:
    swarms.append(swarm)
    swarm.connect(DEADLINE_S, lambda: True)
    return swarm


def serve_until(swarm: PushSwarm, counts: list[int]) -> None:
    for _ in range(300):
        if list(swarm.counts) == counts:
            return
        swarm.serve(0.1)
    raise AssertionError(f"{swarm.counts} updates came, not {counts}")


@pytest.mark.parametrize("mode", ["MERGE", "DISTINCT", "RAW"])
def test_every_client_gets_every_update_in_any_mode(
    loop: str, mode: Mode, heard: list[tuple[int, str, int]], swarms: list[PushSwarm]
) -> None:
    with running() as server:
        swarm = made(loop, options(3), lambda *said: heard.append(said), access(server, mode=mode))
        connected(swarm, swarms)
        server.publish_one_by_one("ltest", *({"value": f"{number}"} for number in range(4)))
        serve_until(swarm, [4, 4, 4])
        assert [value for _, value, _ in heard] == ["0", "1", "2", "3"]
        assert swarm.settings_in_force()["mode"] == mode


def test_clients_that_come_back_do_so_when_somebody_listens_again(
    loop: str, heard: list[tuple[int, str, int]], swarms: list[PushSwarm]
) -> None:
    with running() as server:
        wanted = options(20, comes_back=True)
        swarm = made(loop, wanted, lambda *said: heard.append(said), access(server))
        connected(swarm, swarms)
        server.publish_one_by_one("ltest", {"value": "before"})
        serve_until(swarm, [1] * 20)
        port = parse_gateway(server.address).port
    while len(swarm.gone) < 20:
        swarm.serve(0.1)
    swarm.serve(0.6)  # nobody listens: they try again
    assert [outage.back_ns for outage in swarm.outages] == [None] * 20

    with running({"port": port}) as server:
        while swarm.coming_back:
            swarm.serve(0.1)
        server.publish_one_by_one("ltest", {"value": "after"})
        serve_until(swarm, [2] * 20)

        assert [value for _, value, _ in heard] == ["before", "after"]
        assert swarm.gone == {}
        assert sorted(outage.place for outage in swarm.outages) == list(range(20))
        assert all(outage.back_ns and outage.back_ns > outage.lost_ns for outage in swarm.outages)


def test_who_is_closed_while_its_clients_try_to_come_back_ends_well(loop: str) -> None:
    with running() as server:
        swarm = made(loop, options(3, comes_back=True), lambda *said: None, access(server))
        swarm.connect(DEADLINE_S, lambda: True)
    while len(swarm.gone) < 3:
        swarm.serve(0.1)
    assert swarm.coming_back

    swarm.close()

    assert not swarm.coming_back


def test_rows_of_a_list_are_updates_too(
    loop: str, heard: list[tuple[int, str, int]], swarms: list[PushSwarm]
) -> None:
    with running() as server:
        wanted = options(1, fields=("key", "command", "value"))
        swarm = made(loop, wanted, lambda *said: heard.append(said), access(server, mode="COMMAND"))
        connected(swarm, swarms)
        server.publish("ltest", {"key": "a", "command": "ADD", "value": "1"})
        server.publish("ltest", {"key": "b", "command": "ADD", "value": "2"})
        serve_until(swarm, [2])
        assert [(place, value) for place, value, _ in heard] == [(0, "1"), (0, "2")]


def test_a_data_adapter_is_asked_for_by_name(loop: str, swarms: list[PushSwarm]) -> None:
    other = MemorySource()
    with running(sources={"Other": other}) as server:
        connected(made(loop, options(1), lambda *_: None, access(server, data_adapter="Other")), swarms)
        assert (other.subscribed, server.source.subscribed) == (["ltest"], [])
        nowhere = made(loop, options(1), lambda *_: None, access(server, data_adapter="Nowhere"))
        swarms.append(nowhere)
        with pytest.raises((Unreachable, CaseFailed), match="REQERR,1,17"):
            nowhere.connect(DEADLINE_S, lambda: True)


def test_who_brings_the_token_gets_in_and_nobody_else(loop: str, swarms: list[PushSwarm]) -> None:
    users = Users({"*": [hash_token(TOKEN)]})
    with running(authenticator=users) as server:
        connected(made(loop, options(2), lambda *_: None, access(server, user="run", password=TOKEN)), swarms)
        for password in (None, "another one of twenty letters"):
            stranger = made(loop, options(1), lambda *_: None, access(server, user="run", password=password))
            swarms.append(stranger)
            with pytest.raises((Unreachable, CaseFailed), match="CONERR,1,"):
                stranger.connect(DEADLINE_S, lambda: True)


def test_tls_is_spoken_and_the_certificate_checked(tmp_path: Path, swarms: list[PushSwarm]) -> None:
    issuer = authority()
    own = signed_by(issuer, "gateway")
    (tmp_path / "ca.pem").write_bytes(issuer.pem())
    (tmp_path / "own.pem").write_bytes(own.pem())
    (tmp_path / "key.pem").write_bytes(own.key_pem())
    settings = {"tls_certificate": str(tmp_path / "own.pem"), "tls_key": str(tmp_path / "key.pem")}
    with running(settings) as server:
        assert server.address.startswith("https://")
        trusting = access(server, ca=str(tmp_path / "ca.pem"))
        swarm = connected(open_swarm(options(2), lambda *_: None, trusting), swarms)
        server.publish("ltest", {"value": "1"})
        serve_until(swarm, [1, 1])
        doubting = made("python", options(1), lambda *_: None, access(server))
        swarms.append(doubting)
        with pytest.raises(Unreachable, match="certificate"):
            doubting.connect(DEADLINE_S, lambda: True)


def test_a_gateway_that_is_absent_leaves_no_socket_behind(
    loop: str, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    absent = GatewayAccess(parse_gateway(f"http://127.0.0.1:{port}"))

    def open_files_after() -> int:
        swarm = made(loop, options(20, ramp_up_per_s=1e6), lambda *_: None, absent)
        with pytest.raises(Unreachable, match="no session could be opened"):
            swarm.connect(DEADLINE_S, lambda: True)
        swarm.close()
        del swarm
        gc.collect()
        return psutil.Process().num_fds()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        # A first event loop opens files that stay.
        first, second = open_files_after(), open_files_after()
    assert [str(each.message) for each in told if issubclass(each.category, ResourceWarning)] == []
    assert second <= first
    assert caplog.messages == [], "one reason is enough"


def test_fields_without_a_time_are_refused(
    loop: str,
) -> None:
    with pytest.raises(BadInput, match="timestamp or value is needed"):
        made(loop, options(1, fields=("key",)), lambda *_: None, GatewayAccess(parse_gateway("http://h:1")))
