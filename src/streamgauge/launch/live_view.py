"""The live view of a run: the topic, the query, the page; and what they cost.

It never fails a run: what goes wrong is said once, and the run goes on without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from streamgauge.core.errors import StreamgaugeError
from streamgauge.drivers.kafka.metrics import MetricsSender, MetricsTopic, metrics_target, metrics_topic
from streamgauge.jvm.jars import JarsUnavailable, fetch
from streamgauge.launch.cluster_settings import concurrent_slots
from streamgauge.launch.left_topics import TopicsPromise
from streamgauge.launch.live_choice import has_live_figures, why_no_broker
from streamgauge.launch.live_figures import LiveFigures, LiveRow
from streamgauge.launch.live_page import LivePage
from streamgauge.launch.live_query import LiveQuery, SparkCpu, hello
from streamgauge.launch.live_wish import LiveWish
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.plan.slots import local_slots
from streamgauge.spec.target import Target

_JARS = "spark-kafka"
"""Lock of what Spark needs to read from Kafka."""
_REACH_DEADLINE_S = 10.0
_FIRST_DEADLINE_S = 30.0
"""Spark compiles the query when it first runs."""
_ARRIVE_DEADLINE_S = 5.0
"""How long the last figures of a target may be on their way."""
_LOOK_S = 0.1
_PAGE_LINGER_S = 1.5
_COUNTED_BATCHES = 200
"""So often the CPU of tasks is added up: Spark forgets old ones."""


class LiveView:
    def __init__(
        self, run: str, wish: LiveWish, total_cases: int | None, master: str, tell: Callable[[str], None]
    ) -> None:
        self._run, self._wish, self._master, self._tell = run, wish, master, tell
        self.figures = LiveFigures(run, total_cases)
        self._page: LivePage | None = None
        self._topic: MetricsTopic | None = None
        self._promise: TopicsPromise | None = None
        self._query: LiveQuery | None = None
        self._cpu: SparkCpu | None = None
        self._said: set[str] = set()
        self._is_off = False
        self._begun_s = self._begun_cpu_s = 0.0
        self._expected = self._batches = 0
        self.costs: dict[str, dict[str, float]] = {}
        """By case: CPU seconds of agents and of Spark, and how long it took."""

    @property
    def bootstrap(self) -> str | None:
        """Where agents are to publish; None when there is no view."""
        return self._topic.bootstrap if self._query is not None and self._topic is not None else None

    def jars(self) -> list[Path]:
        """What Spark has to be started with; none when they cannot be had, and then there is no view."""
        try:
            return fetch(_JARS)
        except JarsUnavailable as error:
            self._is_off = True
            self._say_once(f"none: {error}")
            return []

    def open(
        self,
        session: SparkSession,
        target: Target,
        bootstrap: str | None,
        slots_needed: int,
        *,
        goes_with_us: bool = False,
    ) -> None:
        """For the cases of a target; `bootstrap`: its own Kafka's address, if it is one; `goes_with_us`:
        that Kafka does."""
        if self._is_off:
            return
        try:
            if self._wish.bootstrap is None and (why := why_no_broker(target, bootstrap)):
                raise StreamgaugeError(why)
            if (slots := concurrent_slots(session)) <= slots_needed:
                raise StreamgaugeError(f"{self._master} has {slots} slots, and agents take {slots_needed}")
            address = self._wish.bootstrap or str(bootstrap)
            is_ours = goes_with_us and self._wish.bootstrap is None
            self._promise = _promise_at(address, is_ours)
            self._promise.give([metrics_topic(self._run)])
            self._topic = MetricsTopic(address, self._run, _REACH_DEADLINE_S)
            self._cpu = SparkCpu(session, local_slots(self._master) is not None)
            self._start_query(session, self._topic)
        except StreamgaugeError as error:
            self._give_up(str(error))
            return
        if self._page is None:
            try:
                self._page = LivePage(self.figures.document)
                self._tell(f"live view: {self._page.address}")
            except OSError as error:
                self._say_once(f"its page cannot be served: {error}")

    def begin(self, case: Case) -> bool:
        """Whether agents of this case are to publish."""
        if self._query is None or self._cpu is None or not has_live_figures(case):
            return False
        self.figures.begin(case)
        self._begun_s, self._begun_cpu_s = time.monotonic(), self._cpu.seconds()
        return True

    def end(self, case: Case, status: str, told: list[dict[str, Any]]) -> None:
        """Note what it cost, and whatever did not work; `told`: what each agent says of its publishing."""
        if self._query is None or self._cpu is None:
            return
        took_s = time.monotonic() - self._begun_s
        self.figures.end(case, status)
        self._expected += sum(part["messages"] for part in told)
        self._note_cost(case, took_s, told, self._cpu.seconds() - self._begun_cpu_s)
        if lost := sum(part["undelivered"] for part in told):
            reason = next((part["reason"] for part in told if part["reason"]), "no answer in time")
            self._say_once(f"{lost} of {sum(p['published'] for p in told)} messages did not arrive: {reason}")
        for reason in sorted({part["reason"] for part in told if not part["published"]}):
            self._say_once(f"agents could not publish: {reason}")
        if (failure := self._query.failure()) is not None:
            self._give_up(failure)

    def close_target(self) -> None:
        """The target's system may go now."""
        if self._query is not None:
            self._wait_for_the_last()
            self._query.stop()
        if self._topic is not None:
            with suppress(StreamgaugeError):  # a topic that stays is no harm: it empties itself
                self._topic.remove()
        if self._promise is not None:
            self._promise.kept()
        self._query = self._topic = self._promise = None

    def close(self, words: str) -> None:
        """`words`: what the page is to say at last."""
        self.figures.ended = words
        if self._page is not None:
            time.sleep(_PAGE_LINGER_S)  # whoever has it open asks once a second
            self._page.close()
            self._page = None

    def _wait_for_the_last(self) -> None:
        deadline = time.monotonic() + _ARRIVE_DEADLINE_S
        while self.figures.messages < self._expected and time.monotonic() < deadline:
            time.sleep(_LOOK_S)

    def _start_query(self, session: SparkSession, topic: MetricsTopic) -> None:
        self._query = LiveQuery(session, topic.bootstrap, self._run, topic.end_offset, self._take)
        sender = MetricsSender(topic.bootstrap, self._run, _REACH_DEADLINE_S)
        sender.send("launcher", hello(self._run))
        sender.close(_REACH_DEADLINE_S)
        self._query.wait_seen(_FIRST_DEADLINE_S)

    def _take(self, rows: list[LiveRow]) -> None:
        self.figures.add(rows)
        self._batches += 1
        if self._cpu is not None and self._batches % _COUNTED_BATCHES == 0:
            self._cpu.seconds()

    def _note_cost(self, case: Case, took_s: float, told: list[dict[str, Any]], spark_s: float) -> None:
        agents_s = sum(part["cpu_s"] for part in told)
        self.costs[case.id] = {
            "agents_cpu_s": round(agents_s, 4),
            "spark_cpu_s": round(spark_s, 3),
            "took_s": round(took_s, 3),
        }
        each_percent = 100 * agents_s / max(1, len(told)) / took_s
        self.figures.cost = (
            f"agents {agents_s:.2f} CPU s ({each_percent:.2f}% of a core each), Spark {spark_s:.1f} CPU s "
            f"({100 * spark_s / took_s:.0f}% of a core) in {took_s:.0f} s"
        )
        self._tell(f"live view of case {case.id} took: {self.figures.cost}")

    def _give_up(self, why: str) -> None:
        self.close_target()
        self._say_once(f"none: {why}")

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            self._tell(f"live view: {words}")


def _promise_at(address: str, goes_with_us: bool) -> TopicsPromise:
    system = TargetSystem("of the live view", goes_with_us=goes_with_us)
    return TopicsPromise(metrics_target(address), {}, system)
