"""What `streamgauge size` is held to: every quantity of every role by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import sizes
from streamgauge.sizing.costs import MeasuredMessages
from streamgauge.sizing.loads import MESSAGE_QUANTITIES, MessageLoad
from streamgauge.sizing.message_plan import needed
from tests.sizing.made_up import made_up_costs


def test_producers_that_take_more_do_not_hide_consumers_that_take_less(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Their sum was compared, and was right."""
    costs, load = made_up_costs(), MessageLoad(rate_per_s=30_000, size_bytes=500)
    took = {name: needed(load, costs, name).value for name in MESSAGE_QUANTITIES}
    more = took["consumer_cores"] / 2
    took |= {
        "producer_cores": took["producer_cores"] + more,
        "consumer_cores": took["consumer_cores"] - more,
    }
    monkeypatch.setattr(sizes, "_measured_messages", lambda _: [MeasuredMessages(load=load, took=took)])
    monkeypatch.setattr(sizes, "_measured_clients", lambda _: [])
    off = {
        name.rpartition(" ")[2]: predicted.value / measured - 1
        for name, predicted, measured in sizes._checked(tmp_path, costs)
    }
    assert set(off) == set(MESSAGE_QUANTITIES)
    assert off["consumer_cores"] == pytest.approx(1.0)
    assert off["producer_cores"] < -0.05
    others = set(off) - {"producer_cores", "consumer_cores"}
    assert all(abs(off[name]) < 1e-6 for name in others)
