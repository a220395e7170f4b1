from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.sizing.costs import Costs, our_costs, own_costs_file, read_costs, write_costs
from streamgauge.sizing.loads import CLIENT_QUANTITIES, MESSAGE_QUANTITIES, ClientLoad
from tests.sizing.made_up import OF_CLIENTS, made_up_costs


def test_costs_are_read_as_they_were_written(tmp_path: Path) -> None:
    costs = made_up_costs()
    write_costs(costs, tmp_path / "new" / "costs.json")
    assert read_costs(tmp_path / "new" / "costs.json") == costs


def test_our_own_table_has_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = our_costs()
    assert costs.scenarios
    for quantity in MESSAGE_QUANTITIES:
        assert costs.of_messages(quantity).coefficients.max() > 0
    for scenario in costs.scenarios:
        for quantity in CLIENT_QUANTITIES:
            assert costs.of_clients(scenario, quantity).coefficients.max() > 0


def test_they_are_kept_where_state_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path))
    assert own_costs_file() == tmp_path / "costs.json"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "costs.json: not valid JSON"),
        ("{}", "costs.json: cpu: "),
        ("[]", "costs.json: "),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "costs.json"
    file.write_text(content)
    with pytest.raises(BadInput, match=words):
        read_costs(file)


def test_a_file_that_is_not_there_and_a_quantity_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json: cannot be read: No such file"):
        read_costs(tmp_path / "none.json")
    content = made_up_costs().model_dump(mode="json")
    content["messages"][0]["took"] = {"luck": 1.0}
    with pytest.raises(ValueError, match="there is no quantity 'luck'"):
        Costs.model_validate(content)


def test_a_scenario_that_was_not_measured() -> None:
    with pytest.raises(BadInput, match=r"--scenario 9: nothing was measured of it; allowed: 1, 2"):
        made_up_costs().of_clients("9", "gateway_cores")


def test_what_swarms_keep_is_told_by_all_scenarios_and_a_fresh_one_has_none_of_it() -> None:
    cost = made_up_costs().of_clients("2", "swarm_memory_bytes")
    assert cost.coefficients == pytest.approx(OF_CLIENTS["swarm_memory_bytes"])
    fresh = ClientLoad(clients=1000, scenario="2")
    assert cost.at(fresh.causes("swarm_memory_bytes")).value == pytest.approx(8e7 + 1000 * 5000.0)
