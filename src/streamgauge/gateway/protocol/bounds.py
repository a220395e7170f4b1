"""How far the times, sizes and rates that clients ask for are granted, all of them in this one place.

Who asks for more, or for less, gets the nearest that is granted, and is told so where the protocol tells it.
Numbers that name something (LS_subId, LS_msg_prog, LS_recovery_from) are not granted but looked up.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Bounds(NamedTuple):
    least: float
    most: float

    def nearest(self, asked: float) -> float:
        return min(max(asked, self.least), self.most)


MOST_KEPT: Final = 1000
"""How many updates of an item wait for their turn where a client sets no limit."""

GRANTED: Final = {
    "LS_keepalive_millis": Bounds(1000, 30_000),
    # A session waits for its client's next connection as long as these say: nobody may park one for days.
    "LS_polling_millis": Bounds(0, 30_000),
    "LS_idle_millis": Bounds(0, 30_000),
    "LS_inactivity_millis": Bounds(0, 86_400_000),
    "LS_max_wait": Bounds(0, 30_000),
    "LS_content_length": Bounds(10_000, 1_000_000_000),
    "LS_snapshot": Bounds(0, 10_000),
    "LS_requested_buffer_size": Bounds(1, MOST_KEPT),
    # Below these an update would be due in centuries, which is no date for a timer.
    "LS_requested_max_frequency": Bounds(0.001, 1_000_000),
    "LS_requested_max_bandwidth": Bounds(0.01, 1_000_000_000),
}
LONGEST_SEQUENCE: Final = 64
"""Characters in the name of a sequence of messages."""
LONGEST_NAME: Final = 500
"""Characters in the name of an item, a field or a user: each is kept as long as its session."""
