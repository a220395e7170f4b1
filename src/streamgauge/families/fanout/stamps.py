"""Times inside messages, as text to the nanosecond: `2026-01-31 12:00:00.123456789`, UTC.

The first 23 characters are a time in milliseconds, as the benchmark that fan-out follows writes it. A
schedule gives every message a time of its own, so the time also says which message it is.
"""

from __future__ import annotations

import calendar
import time

NS_PER_S = 1_000_000_000
STAMP_LENGTH = 29
_MINUTE_LENGTH = 17
_KEPT = 1000


class StampReader:
    """Stamps → ns since 1970; the minute that many stamps share is worked out once."""

    def __init__(self) -> None:
        self._minutes: dict[str, int] = {}

    def read(self, text: str) -> int:
        """Of what the text begins with; ValueError when that is no stamp."""
        minute = self._minutes.get(text[:_MINUTE_LENGTH])
        if minute is None:
            if len(self._minutes) >= _KEPT:
                self._minutes.clear()
            minute = calendar.timegm(time.strptime(text[:_MINUTE_LENGTH], "%Y-%m-%d %H:%M:"))
            self._minutes[text[:_MINUTE_LENGTH]] = minute
        second, fraction = text[17:19], text[20:STAMP_LENGTH]
        if len(fraction) != 9 or text[19] != "." or not (second + fraction).isdigit():
            raise ValueError(f"{text[:STAMP_LENGTH]!r} is not a time to the nanosecond")
        return (minute + int(second)) * NS_PER_S + int(fraction)


def stamp_text(wall_ns: int) -> str:
    seconds, fraction = divmod(wall_ns, NS_PER_S)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds))}.{fraction:09d}"
