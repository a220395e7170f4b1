"""Aeron through our engines against a plain Java program, over one media driver and one channel, in turn."""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from bench.agents import column, run_agents
from bench.ratio import Ratio, in_pairs, own_topic
from bench.turns import turns_of_one
from streamgauge.core.clock import sharpen_sleep
from streamgauge.drivers.aeron.clients import stream_of
from streamgauge.jvm import embedded
from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import find_java
from streamgauge.systems.aeron_media_driver import AeronMediaDriver

_CHANNEL = "aeron:ipc"
_WARM_UP_S = 8
"""Until Java has compiled what is measured, on both sides, with two cores that are busy."""
_DEADLINE_S = 300
_SIZE, _TURNS = 100, 20_000


class AeronBench:
    """One producer and one consumer, each in a process of its own, on both sides; protobuf orders."""

    def __init__(self, folder: Path, pairs: int, seconds: int) -> None:
        self._folder, self._pairs, self._seconds = folder, pairs, seconds
        self._rate = self._messages = self._warm_up = 0

    def run(self) -> None:
        with AeronMediaDriver(log_dir=self._folder / "aeron") as driver:
            directory = str(driver.directory)
            self._turns(directory)
            for rate, engine, goal in (
                (10_000, "jvm", "≤ 1.1"),
                (1000, "jvm", "stated"),
                (10_000, "python", "stated"),
            ):
                self._rate, self._messages, self._warm_up = rate, rate * self._seconds, rate * _WARM_UP_S
                ratio = Ratio(f"Aeron ipc median at {rate:,}/s, {engine}, to a Java twin", goal)
                measured = in_pairs(
                    self._pairs,
                    ratio,
                    lambda topic, engine=engine: self._ours(directory, topic, engine),  # type: ignore[misc]
                    lambda topic: self._theirs(directory, topic),
                )
                print(measured.line("µs"), flush=True)

    def _turns(self, directory: str) -> None:
        """What a message that comes alone costs the loops in Python."""
        found = [
            turns_of_one(self._folder, _target(directory), {"size": _SIZE}, own_topic(), _TURNS)
            for _ in range(self._pairs)
        ]
        send, receive = ([getattr(turns, name) for turns in found] for name in ("send_us", "receive_us"))
        both = sorted(map(sum, zip(send, receive, strict=True)))
        print(
            f"Aeron ipc, engine python, one message a turn: {statistics.median(both):.1f} µs (goal ≤ 15; "
            f"{both[0]:.1f}–{both[-1]:.1f} in {len(both)} runs; to send {statistics.median(send):.1f}, "
            f"to receive {statistics.median(receive):.1f})",
            flush=True,
        )

    def _ours(self, directory: str, topic: str, engine: str) -> float:
        load: dict[str, Any] = {
            "messages": self._messages,
            "warm_up_messages": self._warm_up,
            "rate": self._rate,
            "engine": engine,
            "proof": True,
            "message": {"size": {"protobuf": "order"}},
            "topics": {"name": topic},
        }
        run = run_agents(self._folder, _target(directory), load)
        order = np.argsort(column(run, "sends", "sequence"))
        intended = column(run, "sends", "intended_ns")[order]
        sequence, received = column(run, "receives", "sequence"), column(run, "receives", "received_ns")
        if len(received) != self._messages + self._warm_up:
            raise RuntimeError(f"{len(received)} of {self._messages + self._warm_up} messages came")
        latency_us = (received - intended[sequence]) / 1e3
        return float(np.median(latency_us[sequence >= self._warm_up]))

    def _theirs(self, directory: str, topic: str) -> float:
        jars = fetch("aeron")
        orders = compiled(Path(embedded.__file__).parent / "orders", jars)
        twin = compiled(Path(__file__).parent / "java_aeron", [*jars, orders])
        command = [
            str(find_java().executable),
            *("-Xmx256m", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"),
            "-Dagrona.disable.bounds.checks=true",
            *("-cp", classpath([*jars, orders, twin]), "AeronTwin"),
        ]
        figures = (stream_of(topic, 0), self._rate, self._messages, self._warm_up)
        arguments = [directory, _CHANNEL, *map(str, figures)]
        sharpen_sleep()  # theirs has it from here, as our agents have it from themselves
        with subprocess.Popen(
            [*command, "subscribe", *arguments], stdout=subprocess.PIPE, text=True
        ) as subscriber:
            try:
                subprocess.run([*command, "publish", *arguments], check=True, timeout=_DEADLINE_S)
                printed, _ = subscriber.communicate(timeout=_DEADLINE_S)
            finally:
                subscriber.kill()
        latencies = [int(line) / 1e3 for line in printed.split()]
        if len(latencies) != self._messages:
            raise RuntimeError(f"the twin received {len(latencies)} of {self._messages} messages")
        return statistics.median(latencies)


def _target(directory: str) -> dict[str, Any]:
    return {"name": "aeron", "driver": "aeron", "settings": {"directory": directory}}
