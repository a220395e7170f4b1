from __future__ import annotations

import pytest

from streamgauge.drivers.contract import ConsumerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics


def test_only_who_sends_knows_how_far_and_nothing_is_read_twice() -> None:
    driver = open_driver(Target(name="z", driver="zeromq"), {})
    driver.prepare_topics(Topics(name="t", partitions=2), ("t",))
    assert driver.endpoints()["partitions"] == "2"
    assert driver.end_offsets(("t",), 2) == {(0, 0): 0, (0, 1): 0}
    consumer = driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
    assert consumer.caught_up({(0, 0): 0})
    assert not consumer.caught_up({(0, 0): 1})
    with pytest.raises(NotImplementedError, match="nobody keeps what was sent"):
        consumer.assign({(0, 0): 0})
    consumer.close()
    driver.close()
