"""The message generator: several producers that send by the clock, whatever sending takes.

Of P producers that pause for d, message k of all is due at k·d/P, and producer k mod P sends it. Open loop: 2
producers and 500 ms make 4.00 messages a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamgauge.core.clock import NS_PER_S, now_ns, sleep_until
from streamgauge.drivers.kafka.sender import KafkaSender
from streamgauge.families.fanout.event_tables import NO_KEY
from streamgauge.families.fanout.scenario_messages import ScenarioMessages
from streamgauge.families.fanout.schedule import due_ns

_LONGEST_SLEEP_NS = 50_000_000
_CATCH_UP = 64
"""Messages sent in a row when the generator is late, before acknowledgements are looked at again."""


class Generator:
    """Sends to one topic; `rows` are those of table `generated`, in the order in which messages were due,
    but for which of them are warm-up: that is known only in the end."""

    def __init__(
        self,
        messages: ScenarioMessages,
        clients: Sequence[Mapping[str, Any]],
        topic: str,
        rate_per_s: float,
        wall_offset_ns: int,
        *,
        keep_rows: bool = True,
    ) -> None:
        """`clients`: settings of each producer. `wall_offset_ns`: wall clock minus monotonic clock.
        `keep_rows`: else rows are forgotten when their message's fate is known."""
        self._messages, self._rate_per_s, self._wall_offset_ns = messages, rate_per_s, wall_offset_ns
        self._senders: list[KafkaSender] = []
        self._rows: dict[int, dict[str, Any]] = {}
        self._keep_rows = keep_rows
        self.sent = self.delivered = self.failed = 0
        self.first_sent_ns = self.last_sent_ns = self.most_late_ns = 0
        self.error: str | None = None
        """Why the last message that was not delivered was not."""
        try:
            for settings in clients:
                self._senders.append(KafkaSender(settings, topic, self._told))
        except BaseException:
            self.close()
            raise

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(self._rows.values())

    def run(self, start_ns: int, count: Callable[[], int | None], go_on: Callable[[], bool]) -> None:
        """Send until there are so many messages (None: that is not known yet), or until `go_on` says no;
        `start_ns`: when the first one is due."""
        number = 0
        while ((most := count()) is None or number < most) and go_on():
            next_ns = due_ns(start_ns, number, self._rate_per_s)
            for _ in range(_CATCH_UP):
                if next_ns > now_ns() or (most is not None and number >= most):
                    break
                self._send(number, next_ns)
                number += 1
                next_ns = due_ns(start_ns, number, self._rate_per_s)
            for sender in self._senders:
                sender.poll()
            if most is None or number < most:
                sleep_until(min(next_ns, now_ns() + _LONGEST_SLEEP_NS))

    def flush(self, deadline_s: float) -> int:
        """Wait for the last acknowledgements; how many did not come."""
        until_ns = now_ns() + int(deadline_s * NS_PER_S)
        return sum(sender.flush(max(0.0, (until_ns - now_ns()) / NS_PER_S)) for sender in self._senders)

    def delivered_by_key(self) -> dict[int, int]:
        """How many messages of each key the broker has; without keys, all of key 0."""
        found: dict[int, int] = {}
        for row in self._rows.values():
            if row["acked_ns"] is not None:
                key = max(0, row["key"])
                found[key] = found.get(key, 0) + 1
        return found

    def close(self) -> None:
        for sender in self._senders:
            sender.close()
        self._senders = []

    def _send(self, number: int, intended_ns: int) -> None:
        producer = number % len(self._senders)
        stamp_ns = intended_ns + self._wall_offset_ns
        message = self._messages.make(producer, stamp_ns)
        sent_ns = now_ns()
        self._rows[number] = {
            "stamp_ns": stamp_ns,
            "producer": producer,
            "key": message.key if message.key_bytes is not None else NO_KEY,
            "size_bytes": len(message.value),
            "intended_ns": intended_ns,
            "sent_ns": sent_ns,
            "acked_ns": None,
            "error": None,
        }
        self.first_sent_ns, self.last_sent_ns = self.first_sent_ns or sent_ns, sent_ns
        self.most_late_ns = max(self.most_late_ns, sent_ns - intended_ns)
        self.sent += 1
        self._senders[producer].send(number, message.key_bytes, message.value)

    def _told(self, number: int, error: str | None) -> None:
        row = self._rows[number] if self._keep_rows else self._rows.pop(number)
        if error is None:
            row["acked_ns"] = now_ns()
            self.delivered += 1
        else:
            row["error"] = self.error = error
            self.failed += 1
