from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.agents.assignment import Assignment

from .stage import assigned

Assign = Callable[..., Assignment]


@pytest.fixture
def assign(tmp_path: Path) -> Assign:
    """The assignment of one agent of a case with this load."""

    def assign(agent: str = "producer-0", **load: Any) -> Assignment:
        return assigned(str(tmp_path / "run"), agent, **load)

    return assign
