from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.families.fanout import generator_life
from streamgauge.families.fanout.generator_life import GeneratorLife
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.spec.target import Target
from tests.agents.conftest import Assign
from tests.agents.fakes import FakeRendezvous


def test_a_broker_that_answers_nobody_beside_the_clients_is_the_end_of_a_series(
    assign: Assign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there before the clients came, so this is no broken case but a point that does not hold."""

    def unreachable(*_: Any, **__: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(generator_life, "Generator", unreachable)
    target = Target(name="kafka", driver="kafka_confluent", settings={"bootstrap": "127.0.0.1:1"})
    fanout = Fanout(clients=(4000,))
    point = FanoutPoint(scenario="1", clients=4000, via="kafka-groups", series="kafka-groups", fanout=fanout)
    life = GeneratorLife(assign().model_copy(update={"target": target, "kind": "fanout", "work": point}))
    with pytest.raises(CaseFailed, match="beside 4,000 clients: no answer"):
        life.run(FakeRendezvous())
