"""How a ladder is conducted: as any load, but nothing looks on."""

from __future__ import annotations

from streamgauge.launch.conduct import Conduct


class TransportsConduct(Conduct):
    may_be_watched = False
    """Latencies are those of microseconds, and whoever publishes figures of them takes more."""
