from __future__ import annotations

import sys

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.registry import driver_class, driver_names
from streamgauge.spec.target import Target


def test_every_driver_of_the_package_is_there() -> None:
    assert {"kafka_aio", "kafka_confluent", "kafka_java", "kafka_python", "simulated"} <= set(driver_names())


@pytest.mark.parametrize(
    ("driver", "library", "extra"),
    [
        ("kafka_java", "jpype", "java"),
        ("kafka_python", "kafka", "kafka-python"),
        ("kafka_aio", "aiokafka", "aiokafka"),
    ],
)
def test_a_client_that_is_not_installed_names_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, driver: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for module in [name for name in sys.modules if name.startswith("streamgauge.drivers.kafka")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(BadInput) as raised:
        driver_class(Target(name="mine", driver=driver))
    assert f"target mine: driver {driver} cannot be loaded: " in str(raised.value)
    assert f"pip install 'streamgauge[{extra}]'" in str(raised.value)
    assert library in str(raised.value)


def test_an_unknown_driver_names_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"no driver 'nope'; allowed: .*kafka_confluent.*simulated"):
        driver_class(Target(name="x", driver="nope"))
