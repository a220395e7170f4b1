"""The simulated broker in real time."""

from __future__ import annotations

import pytest

from streamgauge.spec.target import Target
from tests.drivers.conformance import DriverConformance


class TestRealTime(DriverConformance):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="harness", driver="simulated", settings={"time": "real"})
