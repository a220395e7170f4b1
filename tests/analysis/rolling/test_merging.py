"""Percentiles of what was rolled up and what was not, together, against those of all values."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from streamgauge.analysis.rolling import keeping
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.tables.results import PERCENTILES
from tests.analysis.recorded import MS, SECOND, START_NS, CaseEvents
from tests.analysis.rolling.rolled_runs import Terms, rolled_up, written

SECONDS, RATE = 6, 1000


def test_percentiles_are_within_three_significant_digits_of_exact_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SLOWEST", 10)
    random = Random(58)
    case = CaseEvents("c", load={"messages": SECONDS * RATE, "rate": RATE})
    took_ns = []
    for sequence in range(SECONDS * RATE):
        send = case.send(sequence)
        took_ns.append(int(random.lognormvariate(1.0, 1.2) * MS))
        case.receive(send, received_ns=send["intended_ns"] + took_ns[-1])
    recorded = written(tmp_path, [case], rows=250)
    rolled_up(recorded.run, START_NS + 5 * SECOND, Terms(1_500, 100_000))
    last = last_roll_up(recorded.run, "001")
    assert last is not None
    assert last.number > 2
    assert 4990 < last.messages < 5000  # but for the first one, and those by which others are judged
    assert last.kept == last.number * 10

    results = recorded.analyze()

    exact_ms = np.array(took_ns) / MS
    scopes: list[tuple[dict[str, Any], np.ndarray]] = [({"scope": "case"}, exact_ms)]
    # Of seconds some are in one roll-up, some in two, some in none, and one in both.
    scopes += [
        ({"scope": "second", "second": n}, exact_ms[n * RATE : (n + 1) * RATE]) for n in range(SECONDS)
    ]
    for scope, values in scopes:
        found = results.row("latency", "c", leg="intended_to_received", **scope)
        assert found["count"] == len(values)
        assert found["mean"] == pytest.approx(values.mean(), rel=1e-9)
        assert found["sd"] == pytest.approx(values.std(ddof=1), rel=1e-6)
        assert (found["min"], found["max"]) == (values.min(), values.max())
        for name, share in PERCENTILES.items():
            assert found[name] == pytest.approx(np.quantile(values, share), rel=0.0005), (scope, name)
    assert sum(row["count"] for row in results.rows("histogram", "c", leg="intended_to_received")) == len(
        took_ns
    )
