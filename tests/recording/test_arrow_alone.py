from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

RECORD = """
import sys
import streamgauge.agents.process
import numpy as np
import pyarrow as pa

assert "pandas" not in sys.modules
pa.array([1, 2]), pa.array(np.arange(3)), pa.array(["a"], pa.string())
assert "pandas" not in sys.modules, "an agent imports pandas while it measures"
import pandas
assert len(pa.table({"a": [1]}).to_pandas()) == 1
"""

USED = """
import pandas, sys
from streamgauge.recording.arrow_alone import keep_arrow_alone
keep_arrow_alone()
assert sys.modules["pandas"] is pandas
"""


@pytest.mark.parametrize("code", [RECORD, USED], ids=["agent", "where pandas is in use"])
def test_recording_loads_no_pandas_and_hides_none(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
