from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import has_timed_loops, jvm_driver
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.spec.target import Target

HAVE_LOOPS = {"aeron": False, "kafka_java": True, "simulated": False}
"""By driver with the engine: are there timed loops, too?"""


def test_a_driver_without_the_engine_says_so() -> None:
    driver = open_driver(Target(name="z", driver="zeromq"), {})
    with pytest.raises(BadInput, match="driver zeromq has no engine jvm; allowed with it: python"):
        jvm_driver(driver)
    driver.close()


@pytest.mark.parametrize(("name", "timed"), HAVE_LOOPS.items())
def test_what_an_engine_can_do_is_known_of_the_class(name: str, timed: bool) -> None:
    assert has_timed_loops(driver_class(Target(name="t", driver=name))) == timed


def test_loops_that_an_engine_lacks_are_refused_by_name() -> None:
    driver = jvm_driver(open_driver(Target(name="s", driver="simulated"), {}))
    for ask in (
        lambda: driver.load([b"x"]),
        lambda: driver.timed_producer(ProducerOptions(0, ("t",), "ordinal", "all", "none")),
        lambda: driver.timed_consumer(ConsumerOptions(0, ("t",), "ordinal", (), None, {})),
    ):
        with pytest.raises(
            BadInput, match="driver simulated: its engine jvm sends on schedule and has no timed"
        ):
            ask()
    driver.close()
