"""What transports have in common that keep nothing: what was sent is gone when it was received."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.drivers.contract import Capabilities, Consumer, Driver, all_read

FLEETING = Capabilities(
    durable=False, ordered=True, acked=False, record_headers=False, keyed=False, replayable=False
)


class FleetingDriver(Driver):
    capabilities = FLEETING

    def __init__(self, endpoints: Mapping[str, str]) -> None:
        self._partitions = int(endpoints.get("partitions", 1))
        self._ends: dict[tuple[str, int], int] = {}
        """How far each (topic, partition) was sent to; producers keep it up to date."""

    def remove_topics(self, names: list[str]) -> None:
        """They are gone with their clients."""

    def endpoints(self) -> dict[str, str]:
        return {"partitions": str(self._partitions)}

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        """As far as this process has sent; of others only their producers know."""
        return {
            (number, partition): self._ends.get((name, partition), 0)
            for number, name in enumerate(topics)
            for partition in range(partitions)
        }


class FleetingConsumer(Consumer):
    _positions: dict[tuple[int, int], int]
    """How far each (topic, partition) was read."""

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        raise NotImplementedError(f"{type(self).__name__}: nobody keeps what was sent")

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return all_read(self._positions, ends)
