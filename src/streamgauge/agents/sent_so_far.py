"""What a producer agent tells once a second of what it has sent, from its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from streamgauge.agents.live import Live
from streamgauge.core.live_file import ACK_TIMES
from streamgauge.recording.columns import SendColumns

_MOST_TIMES = 8192


class SentSoFar:
    """Asked by the thread that tells; the loop that sends does nothing for it."""

    def __init__(
        self,
        columns: Sequence[SendColumns],
        warm_up_messages: Callable[[], Mapping[int, int]],
        live: Live,
        *,
        tells_ack_times: bool,
    ) -> None:
        """`warm_up_messages`: by producer, as far as it is known. `tells_ack_times`: nobody receives, so that
        there is no other latency."""
        self._columns, self._warm_up_messages, self._live = columns, warm_up_messages, live
        self._tells_ack_times = tells_ack_times
        self._seen_ns = dict.fromkeys((each.number for each in columns), 0)

    def __call__(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "acked": sum(each.acked for each in self._columns),
            "failed": sum(each.failed for each in self._columns),
        }
        ahead = self._warm_up_messages()
        if len(ahead) == len(self._columns):
            told["warm_up"] = sum(ahead.values())
        if self._tells_ack_times:
            told["times_are"] = ACK_TIMES
            for each in self._columns:
                self._tell_times(each)
        return told

    def _tell_times(self, columns: SendColumns) -> None:
        intended_ns, acked_ns = columns.acked_since(self._seen_ns[columns.number])
        if len(acked_ns):
            self._seen_ns[columns.number] = int(acked_ns.max())
            most = max(1, _MOST_TIMES // len(self._columns))
            newest = np.argsort(acked_ns)[-most:] if len(acked_ns) > most else slice(None)
            self._live.tell_times((acked_ns - intended_ns)[newest])
