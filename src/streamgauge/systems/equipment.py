"""What a system is started with so that faults can be done to it; a run without faults has none of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Equipment:
    links: bool = False
    """Agents come through a proxy of ours, which can be slow or cut."""

    disks: bool = False
    """Its members write through a library of ours, which can be full or slow."""

    def __or__(self, other: Equipment) -> Equipment:
        return Equipment(self.links or other.links, self.disks or other.disks)
