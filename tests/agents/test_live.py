from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamgauge.agents import live
from streamgauge.agents.live import Live

from ..core.properties import few_untimed
from .conftest import Assign

KEPT = 8


@pytest.fixture(autouse=True, scope="module")
def small_ring() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "_KEPT", KEPT)
        yield


@given(batches=st.lists(st.lists(st.integers(0, 10**12), max_size=3 * KEPT), max_size=10))
@settings(few_untimed, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_published_is_of_the_newest_latencies(assign: Assign, batches: list[list[int]]) -> None:
    assignment = assign("consumer-0")
    shown = Live(assignment)
    for batch in batches:
        shown.observe(np.array(batch, np.int64))
    shown.count(0, 2)
    shown.count(1, 3)
    shown.publish()
    newest = [latency for batch in batches for latency in batch][-KEPT:]
    expected = {"case": "001", "kind": "consumer", "messages": 5}
    if newest:
        expected["p99_ms"] = pytest.approx(np.percentile(newest, 99) / 1e6)
    run = assignment.run_dir
    assert run.read_json(run.live("consumer-0")) == expected


def test_the_display_is_not_worth_failing_for(assign: Assign, tmp_path: Path) -> None:
    assignment = assign()
    (tmp_path / "run").write_text("a file has the name of the folder")
    Live(assignment).publish()
    assert (tmp_path / "run").read_text() == "a file has the name of the folder"
