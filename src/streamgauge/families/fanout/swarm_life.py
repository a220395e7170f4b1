"""The life of a swarm: connect all clients, meet the others, take updates until all have come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.drivers.swarm import Outage, Swarm, SwarmOptions
from streamgauge.families.fanout.event_tables import CLIENTS, NO_KEY, OUTAGES, TRAFFIC, UPDATES
from streamgauge.families.fanout.gateway_life import gateway_endpoints
from streamgauge.families.fanout.heard_updates import HeardUpdates, LiveSamples, NewUpdates
from streamgauge.families.fanout.life import FanoutLife
from streamgauge.families.fanout.scenario_messages import keys_of
from streamgauge.families.fanout.schedule import Schedule
from streamgauge.families.fanout.socket_traffic import SocketTraffic, socket_traffic
from streamgauge.families.fanout.stamps import StampReader

CONNECT_DEADLINE_S = 110.0
_SERVE_S = 0.1


class SwarmLife(FanoutLife):
    """Notes what measured clients get; the others are counted."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__(assignment)
        self._swarm: Swarm | None = None
        self._updates = HeardUpdates()
        self._reader = StampReader()
        self._schedule: Schedule | None = None
        self._samples: LiveSamples | None = None
        self._new: NewUpdates | None = None
        self._expected: dict[int, int] | None = None
        self._before: SocketTraffic | None = None
        self._after: SocketTraffic | None = None

    def run(self, rendezvous: Rendezvous) -> None:
        assignment = self.assignment
        driver = self.open_driver(
            gateway_endpoints(
                assignment.run_dir, assignment.case, self.point, assignment.task.number, CONNECT_DEADLINE_S
            )
        )
        self._swarm = swarm = driver.swarm(self._options(), self._heard, self._updates.extend)
        swarm.connect(CONNECT_DEADLINE_S, lambda: not rendezvous.stopping())
        self.manifest.settings = swarm.settings_in_force()
        reading = self.mark_connected()
        start = rendezvous.ready(reading, meanwhile=lambda: swarm.serve(_SERVE_S))
        self._before = socket_traffic()
        planned = self.point.schedule(start.at_ns)
        # The time in a message is that of the host that sent it.
        of_generator_ns = start.wall_offset_of_producer_ns(0)
        wall_offset_ns = reading.wall_offset_ns if of_generator_ns is None else of_generator_ns
        self._samples = LiveSamples(
            self._updates, lambda: self.known_by_now(planned, rendezvous), wall_offset_ns
        )
        self._new = NewUpdates(self._updates, planned, wall_offset_ns)
        self.begin(reading, start)
        with self.watched((NewUpdates(self._updates, planned, wall_offset_ns),), start, rendezvous):
            while not (rendezvous.producers_finished() or rendezvous.stopping()):
                swarm.serve(_SERVE_S)
        self._schedule = self.known_by_now(planned, rendezvous)
        self._expected = {key: count for (_, key), count in rendezvous.acked_ends().items()}
        self._drain(swarm, rendezvous)
        self._after = socket_traffic()
        self.mark("drained", now_ns())
        self._count()
        if rendezvous.stopping():
            self.manifest.outcome = "stopped"

    def _options(self) -> SwarmOptions:
        assignment, point = self.assignment, self.point
        assert assignment.task.share is not None
        first, count = assignment.task.share
        names, fanout = keys_of(point.mapping.kind), point.fanout
        keys = point.keys(self.seed, len(names))[first : first + count]
        processes = sum(1 for agent in point.agents() if agent.kind == "swarm")
        return SwarmOptions(
            first=first,
            keys=tuple(keys.tolist()),
            key_names=names,
            measured=frozenset(n - first for n in point.measured(self.seed) if first <= n < first + count),
            topic=assignment.topics[0],
            start={(topic, part): offset for topic, part, offset in assignment.start_offsets},
            kind=point.mapping.kind,
            group=f"streamgauge-{assignment.run_dir.id}-{assignment.case}"
            if point.via == "kafka-groups"
            else None,
            parse_json=fanout.parse_json,
            item=point.mapping.item,
            fields=point.fields,
            max_frequency=fanout.max_frequency,
            ramp_up_per_s=point.ramp_up_per_s / processes,
            comes_back=bool(point.faults),
        )

    def _heard(self, place: int, stamp: str, received_ns: int) -> None:
        self._updates.add(place, self._reader.read(stamp), received_ns)

    def _drain(self, swarm: Swarm, rendezvous: Rendezvous) -> None:
        """Until every client has all, or time is up. With conflation nobody knows how much that is."""
        until_ns = now_ns() + int(self.point.fanout.drain_timeout * NS_PER_S)
        conflated = self.point.is_conflated
        if conflated:
            until_ns = min(until_ns, now_ns() + 2 * NS_PER_S)
        while not rendezvous.stopping() and now_ns() < until_ns:
            swarm.serve(_SERVE_S)
            if not conflated and sum(swarm.counts) >= sum(self._expected_counts(swarm)):
                return

    def _expected_counts(self, swarm: Swarm) -> list[int]:
        """What each client has to get: of its key from a gateway, everything from Kafka."""
        expected = self._expected or {}
        if self.point.via != "gateway" or not swarm.options.key_names:
            return [sum(expected.values())] * swarm.options.count
        return [expected.get(key, 0) for key in swarm.options.keys]

    def _count(self) -> None:
        """For the launcher, who has to know at once whether the series goes on."""
        assert self._swarm is not None
        assert self._samples is not None
        self._samples.catch_up()
        expected = self._expected_counts(self._swarm)
        missing, conflated = left_out(expected, self._swarm.counts, is_conflated=self.point.is_conflated)
        self.manifest.counters = {
            "clients": self._swarm.options.count,
            "gone": len(self._swarm.gone),
            "expected": sum(expected),
            "received": sum(self._swarm.counts),
            "missing": missing,
            "conflated": conflated,
            "samples": self._samples.count,
            "latency_sum_us": self._samples.sum_ns // 1000,
        }
        if self._swarm.gone:
            self.manifest.reason = (
                f"{len(self._swarm.gone)} connections ended: {next(iter(self._swarm.gone.values()))}"
            )

    def publish(self) -> None:
        if self._swarm is not None:
            self.live.counts = "received"
            self.live.count(0, sum(self._swarm.counts))
            if self._samples is not None:
                self.live.told["latency_ms"] = self._samples.told()
            if self._new is not None:
                for latencies_ns in self._new.take():
                    self.live.tell_times(latencies_ns)
        super().publish()

    def keep(self) -> None:
        swarm = self._swarm
        if swarm is None:
            return
        first, count = swarm.options.first, swarm.options.count
        self.files.write(
            UPDATES,
            {
                "client": self._updates.clients + first,
                "stamp_ns": self._updates.stamps_ns,
                "received_ns": self._updates.received_ns + self.reference_offset_ns,
            },
        )
        measured = np.zeros(count, bool)
        measured[list(swarm.options.measured)] = True
        self.files.write(
            CLIENTS,
            {
                "client": np.arange(first, first + count),
                "key": np.array(swarm.options.keys) if swarm.options.key_names else np.full(count, NO_KEY),
                "is_measured": measured,
                "updates": np.array(swarm.counts),
                "expected": self._expected_counts(swarm),
            },
        )
        if swarm.outages:
            self.files.write_rows(OUTAGES, [self._outage_row(outage, first) for outage in swarm.outages])
        if self._before is not None and self._after is not None:
            self.files.write_rows(TRAFFIC, [self._traffic_row(self._before, self._after)])

    def _outage_row(self, outage: Outage, first: int) -> dict[str, object]:
        offset_ns = self.reference_offset_ns
        back_ns = outage.back_ns
        return {
            "client": first + outage.place,
            "lost_ns": outage.lost_ns + offset_ns,
            "back_ns": None if back_ns is None else back_ns + offset_ns,
        }

    def _traffic_row(self, before: SocketTraffic, after: SocketTraffic) -> dict[str, object]:
        count = self._schedule.message_count if self._schedule is not None else None
        return {
            "agent": self.assignment.task.agent,
            "sockets": after.sockets,
            "seconds": (count or self.point.message_count) / self.point.rate_per_s,
            "received_bytes": after.received_bytes - before.received_bytes,
            "sent_bytes": after.sent_bytes - before.sent_bytes,
        }

    def let_go(self) -> None:
        if self._swarm is not None:
            self._swarm.close()


def left_out(expected: Sequence[int], received: Sequence[int], *, is_conflated: bool) -> tuple[int, int]:
    """Of what all clients together should have got: missing, and conflated.

    What conflation leaves out is not missing, and cannot be told from what was lost; but it never leaves out
    all. A client to which something was due and nothing came lacks the last of it at least.
    """
    pairs = list(zip(expected, received, strict=True))
    not_come = sum(max(0, want - got) for want, got in pairs)
    if not is_conflated:
        return not_come, 0
    missing = sum(1 for want, got in pairs if want and not got)
    return missing, not_come - missing
