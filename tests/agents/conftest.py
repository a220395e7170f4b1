from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.agents.assignment import Assignment
from streamgauge.plan.agent_tasks import deal_out
from streamgauge.spec.load import Load

from .fakes import FAKE_TARGET

Assign = Callable[..., Assignment]


@pytest.fixture
def assign(tmp_path: Path) -> Assign:
    """The assignment of one agent of a case with this load."""

    def assign(agent: str = "producer-0", **load: Any) -> Assignment:
        whole = Load.model_validate({"messages": 100, **load})
        (task,) = [task for task in deal_out(whole) if task.agent == agent]
        count = whole.topics.count
        return Assignment(
            run=str(tmp_path / "run"),
            case="001",
            tag=77,
            task=task,
            kind="e2e",
            work=whole,
            time_limit_s=whole.time_limit,
            drain_timeout_s=whole.drain_timeout,
            topics=tuple(f"t-{number}" for number in range(count)),
            target=FAKE_TARGET,
            endpoints={},
            environment={"SG_PASSWORD": "hunter2"},
        )

    return assign
