from pathlib import Path

import pytest

from streamgauge.spec.target import Target
from streamgauge.testing.driver_suite import DriverSuite


class TestSqliteLog(DriverSuite):
    @pytest.fixture
    def target(self, tmp_path: Path) -> Target:
        return Target(name="mine", driver="sqlite_log", settings={"file": str(tmp_path / "log.db")})
