from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.sizing.fitting import Estimate
from streamgauge.sizing.planning import Host, Need, fewest_processes, size_plan
from tests.sizing.made_up import made_up_costs


def test_the_fewest_that_keep_to_their_share() -> None:
    def cores(count: int) -> Estimate:
        return Estimate.exactly(3.0 + 0.1 * count)

    count = fewest_processes(cores, 0.7, "producer")
    assert cores(count).value / count <= 0.7 < cores(count - 1).value / (count - 1)


def test_what_can_never_be_is_refused() -> None:
    with pytest.raises(BadInput, match="more than 100,000 processes"):
        fewest_processes(lambda count: Estimate.exactly(1.0 + count), 0.7, "producer")


def test_hosts_are_for_whatever_is_scarcest_and_the_upper_end_needs_more() -> None:
    nothing = Estimate.exactly(0.0)
    cores = Estimate(value=10.0, low=8.0, high=20.0)
    need = Need(role="gateway", processes=20, cores=cores, memory_bytes=nothing)
    heavy = need.model_copy(update={"role": "swarm", "memory_bytes": Estimate.exactly(100 * 1024**3)})
    found = size_plan("w", [need, heavy], Host(), made_up_costs(), ["a note"])
    [broker] = size_plan("w", [need.model_copy(update={"role": "broker"})], Host(), made_up_costs(), []).parts
    assert broker.processes == broker.hosts == 20, "one broker a host"
    assert [(part.hosts, part.most_hosts) for part in found.parts] == [(2, 4), (5, 5)]
    assert (found.hosts, found.most_hosts, found.cores.value) == (7, 9, 20.0)


@pytest.mark.parametrize("given", [{"cores": 0}, {"fill": 1.5}, {"network_bits_per_s": "fast"}, {"mood": 1}])
def test_a_host_that_cannot_be(given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="1 validation error"):
        Host.model_validate(given)
