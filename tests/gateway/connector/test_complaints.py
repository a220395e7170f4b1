from __future__ import annotations

import logging
import time

import pytest

from streamgauge.gateway.connector.complaints import Complaints


def test_what_repeats_is_told_now_and_then_with_a_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    found = Complaints(logging.getLogger("streamgauge.gateway"), "connection Q", quiet_s=10)
    with caplog.at_level("WARNING"):
        for number in range(5):
            found.tell("mapping", f"record {number}")
        found.tell("other", "something else")
        now = 111.0
        found.tell("mapping", "record 5")
    assert [record.getMessage() for record in caplog.records] == [
        "connection Q: record 0",
        "connection Q: something else",
        "connection Q: record 5 (and 4 more of the kind before it)",
    ]
