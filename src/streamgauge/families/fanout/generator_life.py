"""The life of the agent that sends: connect, meet the others, send by the clock, tell how much."""

from __future__ import annotations

from typing import Any

from streamgauge.agents.noise_floor import NoiseFloor
from streamgauge.agents.precedence import precedence
from streamgauge.agents.rendezvous import Rendezvous, Start
from streamgauge.core.clock import NS_PER_S, now_ns, read_clocks, sharpen_sleep, sleep_until
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.families.fanout.event_tables import GENERATED
from streamgauge.families.fanout.generator import Generator
from streamgauge.families.fanout.life import FanoutLife
from streamgauge.families.fanout.scenario_messages import ScenarioMessages
from streamgauge.families.fanout.schedule import Schedule

_FLUSH_S = 30.0
_IDLE_NS = 20_000_000


class GeneratorLife(FanoutLife):
    """One process, whose producers each have a client of their own."""

    _generator: Generator | None = None
    _schedule: Schedule | None = None
    """By which the last message was sent."""
    _floor: NoiseFloor | None = None

    def run(self, rendezvous: Rendezvous) -> None:
        assignment, point = self.assignment, self.point
        fanout, topic = point.fanout, assignment.topics[0]
        # Whatever the clients are: it is librdkafka that sends.
        settings = self.open_driver().sender_settings()
        wall_offset_ns = read_clocks().wall_offset_ns
        messages = ScenarioMessages(point.mapping.kind, fanout.size, self.seed)
        clients = [settings] * fanout.producers_of(point.scenario)
        try:
            self._generator = generator = Generator(
                messages, clients, topic, point.rate_per_s, wall_offset_ns
            )
        except Unreachable as error:
            # It was there before the clients were: so many of them are more than it can take.
            raise CaseFailed(f"Kafka did not answer beside {point.clients:,} clients: {error}") from None
        self.manifest.settings = settings
        start = rendezvous.ready(
            reading := self.mark_connected(), meanwhile=lambda: sleep_until(now_ns() + _IDLE_NS)
        )
        self.begin(reading, start)
        sharpen_sleep()
        ahead_s = fanout.warm_up_limit if fanout.warm_up == "auto" else fanout.warm_up
        self._floor = NoiseFloor(1, ahead_s + fanout.duration)
        self._floor.start()
        with self.watched((), start, rendezvous), precedence(fanout.precedence, 0) as said:
            self.manifest.settings = {**settings, **said}
            self._send(generator, start, rendezvous)
        self._end_floor(now_ns())
        left = generator.flush(_FLUSH_S)
        self.mark("measure_end", now_ns())
        rendezvous.finished({(0, key): count for key, count in generator.delivered_by_key().items()})
        if rendezvous.stopping():
            self.manifest.outcome = "stopped"
        elif left or generator.failed:
            raise CaseFailed(f"{left + generator.failed} messages were not delivered to Kafka")

    def _send(self, generator: Generator, start: Start, rendezvous: Rendezvous) -> None:
        """Until all that count are sent; since when they count may be said meanwhile, and be said anew."""
        planned, terms = self.point.schedule(start.at_ns), self.point.settling
        limit_s = self.assignment.time_limit_s + (terms.limit_s if terms else 0.0)

        def message_count() -> int | None:
            self._schedule = self.known_by_now(planned, rendezvous)
            return self._schedule.message_count

        def go_on() -> bool:
            return not rendezvous.stopping() and now_ns() < start.at_ns + limit_s * NS_PER_S

        generator.run(start.at_ns, message_count, go_on)
        if self._schedule is None or self._schedule.warm_up_count is None:
            if not rendezvous.stopping():
                raise CaseFailed(f"nobody said within {limit_s:g} s since when messages count")
        elif self._schedule.slot is not None:
            self.manifest.warm_up_messages = {"0": self._schedule.warm_up_count}
            self.manifest.measured_slots = {"0": self._schedule.slot}

    def _end_floor(self, ended_ns: int) -> None:
        """Of while messages that count were due."""
        if self._floor is None:
            return
        self._floor.stop()
        schedule = self._schedule
        if schedule is not None and schedule.warm_up_count is not None:
            self.manifest.noise_floor = self._floor.between(schedule.due_ns(schedule.warm_up_count), ended_ns)

    def publish(self) -> None:
        if self._generator is not None:
            self.live.counts = "sent"
            self.live.count(0, self._generator.sent)
            self.live.told["failed"] = self._generator.failed
            if self._schedule is not None and self._schedule.warm_up_count is not None:
                self.live.told["warm_up"] = self._schedule.warm_up_count
            else:
                self.live.told.pop("warm_up", None)
        super().publish()

    def keep(self) -> None:
        if self._generator is not None:
            # Where nobody knew since when they count, none does.
            ahead = None if self._schedule is None else self._schedule.warm_up_count
            rows = [
                {**self._on_reference_clock(row), "is_warm_up": ahead is None or number < ahead}
                for number, row in enumerate(self._generator.rows)
            ]
            self.files.write_rows(GENERATED, rows)

    def _on_reference_clock(self, row: dict[str, Any]) -> dict[str, Any]:
        times = ("intended_ns", "sent_ns", "acked_ns")
        moved = {name: row[name] + self.reference_offset_ns for name in times if row[name] is not None}
        return {**row, **moved}

    def let_go(self) -> None:
        if self._floor is not None:
            self._floor.stop()
        if self._generator is not None:
            self._generator.close()
