"""What tests of families take from those of the rooms."""

from __future__ import annotations

from tests.agents.conftest import assign as assign  # noqa: PLC0414 - a fixture
from tests.plan.conftest import workload as workload  # noqa: PLC0414 - a fixture
