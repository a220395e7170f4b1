from __future__ import annotations

import pytest

from streamgauge.spec.target import Target
from streamgauge.testing.driver_suite import DriverSuite


class TestConformance(DriverSuite):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="sim", driver="simulated", settings={"latency": {"law": "lognormal"}})
