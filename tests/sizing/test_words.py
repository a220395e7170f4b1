from __future__ import annotations

from streamgauge.sizing.fitting import Estimate
from streamgauge.sizing.planning import Host, Need, size_plan
from streamgauge.sizing.words import below, headline, rows
from tests.sizing.made_up import made_up_costs


def test_a_plan_in_words() -> None:
    bits = Estimate(value=44e9, low=40e9, high=50e9)
    cores = Estimate(value=40.0, low=36.0, high=50.0)
    need = Need(
        role="broker", processes=9, cores=cores, memory_bytes=Estimate.exactly(2**30), sent_bits_per_s=bits
    )
    plan = size_plan("5M/s of 1.0 KiB", [need], Host(), made_up_costs(), ["a note"])
    assert headline(plan) == "5M/s of 1.0 KiB: 9 hosts of 8 cores, 44 Gbit/s"
    assert rows(plan)[0][:4] == ["broker", "9", "9", "40 (36–50)"]
    said = "\n".join(below(plan))
    assert "a note" in said
    assert "costs: made up, 2 cores, measured 2026-01-01" in said
