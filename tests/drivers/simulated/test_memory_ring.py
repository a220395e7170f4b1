"""The simulated broker in real time."""

from __future__ import annotations

import pytest

from streamgauge.spec.target import Target
from streamgauge.testing.driver_suite import DriverSuite


class TestRealTime(DriverSuite):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="harness", driver="simulated", settings={"time": "real"})
