"""One message to many clients: the gateway, Centrifuge and a bare send loop under the same load."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from bench.fanout_peers import WRITE_DELAYS_MS, Load, Peer, Programs
from bench.fanout_server import MONITORING_HOST
from bench.ratio import Ratio

_DEADLINE_S = 120
_SETTLE_S = 1.0
_NS_PER_S = 1_000_000_000
_KEEPS_UP_MS = 250.0
"""Mean latency up to which a saturated server counts as keeping up."""
_LEAST_PER_S, _MOST_PER_S, _STEPS = 50.0, 3200.0, 7


@dataclass(frozen=True)
class Outcome:
    """What the clients saw, and what it cost the server."""

    load: Load
    deliveries: int
    lost: int
    repeated: int
    closed: int
    least_of_a_session: int
    mean_ms: float
    p99_ms: float
    cpu_s: float
    session_kib: float
    """Memory that a connected session takes in the server."""
    grown_kib: float
    """By how much the server grew while it published."""

    @property
    def cpu_us(self) -> float:
        return self.cpu_s * 1e6 / max(1, self.deliveries)

    @property
    def per_s(self) -> float:
        """Deliveries a second."""
        return self.deliveries / self.load.seconds

    @property
    def is_whole(self) -> bool:
        """Every session that reads got every message, once."""
        expected = int(self.load.per_s * self.load.seconds)
        return not (self.lost or self.repeated or self.closed) and self.least_of_a_session >= expected - 1


class Fanout:
    def __init__(self, folder: Path, pairs: int, scale: float) -> None:
        self._programs, self._pairs = Programs(folder / "peers"), pairs
        self._seconds = max(3.0, 10.0 * scale)

    def all_to_all(self) -> None:
        """10,000 sessions, 1 KiB, 4 messages a second to each: one item for all, then a hundred."""
        load = Load(sessions=10_000, per_s=4, seconds=self._seconds)
        self._cost_of(load, {"centrifuge": "≤ 0.75", "send_loop": "≤ 1.1"})
        self._cost_of(replace(load, items=100), {"send_loop": "≤ 1.1"})

    def _cost_of(self, load: Load, goals: dict[Peer, str]) -> None:
        """CPU a delivery of the gateway, against each of these."""
        peers: list[Peer] = ["gateway", *(peer for peer in goals if peer not in self._programs.missing)]
        by_peer: dict[Peer, list[Outcome]] = {peer: [] for peer in peers}
        for pair in range(self._pairs):
            # Forwards, then backwards: whoever goes first gains nothing by it.
            for peer in peers if pair % 2 else reversed(peers):
                by_peer[peer].append(self.run(peer, load))
        for peer in peers:
            _say_of(peer, by_peer[peer])
        on = "one item" if load.items == 1 else f"{load.items} items"
        for peer, goal in goals.items():
            what = f"CPU a delivery on {on} against {peer}"
            if peer in self._programs.missing:
                print(f"{what}: not measured, {self._programs.missing[peer]}", flush=True)
                continue
            ratio = Ratio(what, goal)
            ratio.ours = [outcome.cpu_us for outcome in by_peer["gateway"]]
            ratio.theirs = [outcome.cpu_us for outcome in by_peer[peer]]
            print(ratio.line("µs"), flush=True)

    def saturated(self) -> None:
        """2,000 sessions: how much can be delivered, updates sharing writes."""
        if "centrifuge" in self._programs.missing:
            print(f"saturated: not measured, {self._programs.missing['centrifuge']}", flush=True)
            return
        # Centrifuge as it is, and set to collect messages for a write, as the gateway does by itself: for
        # as long as the rule lets it, and of these the best.
        plain = Ratio("deliveries/s when saturated, against Centrifuge", "≥ 1.3")
        collecting = Ratio("the same, against Centrifuge that collects", "≥ 1.3")
        best: dict[str, list[Outcome]] = {"gateway": [], "Centrifuge": [], "Centrifuge that collects": []}
        for pair in range(self._pairs):
            sides: list[tuple[str, Peer, tuple[int, ...]]] = [
                ("gateway", "gateway", (0,)),
                ("Centrifuge", "centrifuge", (0,)),
                ("Centrifuge that collects", "centrifuge", WRITE_DELAYS_MS),
            ]
            for name, peer, delays_ms in sides if pair % 2 else reversed(sides):
                found = [self._most(peer, 2000, delay_ms) for delay_ms in delays_ms]
                best[name].append(max(found, key=lambda outcome: outcome.per_s))
        for name, ratio in (("Centrifuge", plain), ("Centrifuge that collects", collecting)):
            ratio.ours = [outcome.per_s for outcome in best["gateway"]]
            ratio.theirs = [outcome.per_s for outcome in best[name]]
            print(ratio.line("deliveries/s"), flush=True)
        for name, outcomes in best.items():
            _say_of(name, outcomes)

    def one_stalled(self) -> None:
        """1,000 sessions, of which one does not read: what do the others notice?"""
        ratio = Ratio("p99 of 999 beside one that stalls", "≤ 1.5")
        grown = []
        for pair in range(self._pairs):
            sides = [(ratio.ours, 1), (ratio.theirs, 0)]
            for figures, stalled in sides if pair % 2 else reversed(sides):
                load = Load(sessions=1000, per_s=40, seconds=self._seconds, stalled=stalled)
                outcome = self.run("gateway", load)
                if not outcome.is_whole:
                    raise RuntimeError(f"somebody who reads did not get everything: {outcome}")
                figures.append(outcome.p99_ms)
                if stalled:
                    grown.append(outcome.grown_kib)
        print(ratio.line("ms"), flush=True)
        sent_kib = 40 * self._seconds
        print(
            f"memory of the gateway beside it, from before the first message on, grew by"
            f" {statistics.median(grown):.0f} KiB; {sent_kib:.0f} KiB were sent to each while measured",
            flush=True,
        )

    def run(self, peer: Peer, load: Load) -> Outcome:
        port = _free_port()
        with _started(self._programs.server(peer, port, load)) as server:
            _wait_for(port, server)
            process = psutil.Process(server.pid)
            empty = process.memory_info().rss
            with _started(self._programs.swarm(port, load.sessions, peer, load.stalled, load.items)) as swarm:
                if _line(swarm) != f"connected {load.sessions}":
                    raise RuntimeError(f"{peer}: not all of {load.sessions} clients could connect")
                time.sleep(_SETTLE_S)
                full = process.memory_info().rss
                _tell(server, "publish")
                time.sleep(_SETTLE_S)
                if load.stalled:
                    _wait_until_behind(port, load.stalled)
                seen, cpu_s = self._measure(swarm, process, load)
                if load.stalled and _behind(port) != load.stalled:
                    raise RuntimeError("who was to stall read on, or was dropped, while others were measured")
                grown = process.memory_info().rss - full
        return Outcome(
            load=load,
            cpu_s=cpu_s,
            session_kib=(full - empty) / 1024 / load.sessions,
            grown_kib=grown / 1024,
            **{name: int(seen[name]) for name in _SEEN_COUNTS},
            mean_ms=seen["mean_ms"],
            p99_ms=seen["p99_ms"],
        )

    @staticmethod
    def _measure(
        swarm: subprocess.Popen[str], server: psutil.Process, load: Load
    ) -> tuple[dict[str, float], float]:
        begin_ns = time.monotonic_ns() + _NS_PER_S // 5
        end_ns = begin_ns + int(load.seconds * _NS_PER_S)
        _tell(swarm, f"measure {begin_ns} {end_ns}")
        _sleep_until(begin_ns)
        before = _cpu_s(server)
        _sleep_until(end_ns)
        used = _cpu_s(server) - before
        return json.loads(_line(swarm)), used

    def _most(self, peer: Peer, sessions: int, collect_ms: int) -> Outcome:
        """Halving, on a scale of ratios, between a rate that all can keep and one that none can."""
        low, high, best = _LEAST_PER_S, _MOST_PER_S, None
        for _ in range(_STEPS):
            rate = (low * high) ** 0.5
            outcome = self.run(peer, Load(sessions, rate, self._seconds / 2, collect_ms=collect_ms))
            if outcome.is_whole and outcome.mean_ms <= _KEEPS_UP_MS:
                low = rate
                best = outcome if best is None else max(best, outcome, key=lambda each: each.per_s)
            else:
                high = rate
        if best is None:
            raise RuntimeError(f"{peer}: no rate from {_LEAST_PER_S:g}/s on was kept by {sessions} sessions")
        return best


_SEEN_COUNTS = ("deliveries", "lost", "repeated", "closed", "least_of_a_session")


def _say_of(name: str, outcomes: list[Outcome]) -> None:
    """The same of each side: what came, how late, and what it took."""
    load, middle = outcomes[0].load, statistics.median
    print(
        f"… {name}, {load.sessions:,} sessions, {load.items} items of {load.size_bytes} B,"
        f" {len(outcomes)} runs:"
        f" {middle(o.per_s for o in outcomes):,.0f} deliveries/s,"
        f" {sum(o.lost + o.repeated + o.closed for o in outcomes)} lost, repeated or closed,"
        f" latency mean {middle(o.mean_ms for o in outcomes):.0f} ms,"
        f" {max(o.mean_ms for o in outcomes):.0f} ms in the worst run,"
        f" p99 {middle(o.p99_ms for o in outcomes):.0f} ms,"
        f" CPU {middle(o.cpu_us for o in outcomes):.1f} µs a delivery,"
        f" {max(o.session_kib for o in outcomes):.1f} KiB a session, grew by"
        f" {max(o.grown_kib for o in outcomes) / 1024:.0f} MiB while it published",
        flush=True,
    )


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=_DEADLINE_S)


def _tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[str]) -> None:
    until = time.monotonic() + _DEADLINE_S
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            time.sleep(_SETTLE_S)
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{server.args!r}: does not listen")


def _behind(port: int) -> int:
    """How many sessions' sockets are full, as the gateway tells."""
    with urllib.request.urlopen(f"http://{MONITORING_HOST}:{port}/metrics", timeout=_DEADLINE_S) as answer:
        told = answer.read().decode()
    return int(told.split('sessions_behind{process="0"} ')[1].split("\n")[0])


def _wait_until_behind(port: int, count: int) -> None:
    """The system's own buffers take a while to fill; before that nobody stalls."""
    until = time.monotonic() + _DEADLINE_S
    while _behind(port) < count:
        if time.monotonic() > until:
            raise RuntimeError("who does not read never fell behind")
        time.sleep(0.2)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _sleep_until(until_ns: int) -> None:
    time.sleep(max(0.0, (until_ns - time.monotonic_ns()) / _NS_PER_S))
