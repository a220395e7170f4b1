from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from streamgauge.spec.workload import Workload


@pytest.fixture
def workload() -> Callable[..., Workload]:
    """A workload with the given sweep, targets and fields of the load."""

    def make(sweep: dict[str, Any] | None = None, targets: tuple[str, ...] = ("a",), **load: Any) -> Workload:
        return Workload.model_validate(
            {
                "targets": [{"name": name, "driver": "simulated"} for name in targets],
                "load": {"messages": 100, **load},
                "sweep": sweep or {},
            }
        )

    return make
