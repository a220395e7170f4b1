"""What a family shows of its document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.console import Console


@dataclass(frozen=True)
class Shown:
    """One way of showing it for each renderer."""

    console: Callable[[Console], None]
    page: Callable[[], str]
    files: Callable[[], Mapping[str, str | bytes]]
    """Name below the report's folder → content."""
