from __future__ import annotations

import pytest

from streamgauge.spec.target import Target
from tests.drivers.conformance import DriverConformance


class TestConformance(DriverConformance):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="sim", driver="simulated", settings={"latency": {"law": "lognormal"}})
