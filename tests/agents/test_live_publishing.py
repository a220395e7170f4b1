"""What an agent publishes, without a broker; tests/cli/test_live.py has the whole way."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

from streamgauge.agents import live_publishing
from streamgauge.agents.live import Live
from streamgauge.agents.live_publishing import LivePublishing
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.errors import Unreachable

from .conftest import Assign


class FakeSender:
    def __init__(self, bootstrap: str, run: str, deadline_s: float) -> None:
        self.told: list[dict[str, Any]] = []
        self.sent = self.delivered = 0
        self.error = ""
        FakeSender.last = self

    last: FakeSender

    def send(self, key: str, value: bytes) -> None:
        self.told.append(json.loads(value))
        self.sent += 1
        self.delivered += 1

    def close(self, deadline_s: float) -> None: ...

    def cpu_ns(self) -> int:
        return 3_000_000


def test_every_second_is_told_once_and_adds_up(assign: Assign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_publishing, "MetricsSender", FakeSender)
    assignment = assign("consumer-0").model_copy(update={"live_bootstrap": "here:1"})
    live = Live(assignment)
    publishing = LivePublishing(assignment, live)
    # The first second is nearly over, so that the test need not wait for it.
    publishing.start(now_ns() - NS_PER_S * 9 // 10)
    live.observe(0, np.array([5, 5, 9], np.int64), np.zeros(3, np.int32), np.array([True] * 3))
    live.count(0, 3)
    end = time.monotonic() + 10
    while not FakeSender.last.told and time.monotonic() < end:
        time.sleep(0.01)
    live.observe(0, np.array([7], np.int64), np.zeros(1, np.int32), np.array([True]))
    live.count(0, 4)
    told = publishing.stop()
    first, *rest = FakeSender.last.told
    about = {"run": "run", "case": "001", "agent": "consumer-0", "kind": "consumer"}
    assert first == {**about, "second": 0, "messages": 3, "missed": 0, "buckets": [[5, 2], [9, 1]]}
    assert [(part["messages"], part["buckets"]) for part in rest if part["messages"]] == [(1, [[7, 1]])]
    assert rest[-1]["second"] >= 1
    assert told["published"] == len(FakeSender.last.told)
    assert (told["messages"], told["undelivered"], told["reason"]) == (4, 0, "")
    assert told["cpu_s"] > 0.003


def test_a_broker_that_does_not_answer_is_told_and_nothing_else(
    assign: Assign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(bootstrap: str, run: str, deadline_s: float) -> FakeSender:
        raise Unreachable(f"Kafka at {bootstrap} did not answer")

    monkeypatch.setattr(live_publishing, "MetricsSender", refuse)
    assignment = assign("producer-0").model_copy(update={"live_bootstrap": "nowhere:1"})
    publishing = LivePublishing(assignment, Live(assignment))
    publishing.start(now_ns())
    told = publishing.stop()
    assert told["published"] == 0
    assert told["reason"] == "Kafka at nowhere:1 did not answer"
