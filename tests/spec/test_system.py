from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest

from streamgauge.core.entry_points import points_of
from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.spec import system
from streamgauge.spec.loading import parse
from streamgauge.spec.system import SystemSpec, system_class
from streamgauge.spec.target import Target
from streamgauge.systems.embedded_kafka import KafkaClusterSpec


class EchoSpec(SystemSpec):
    kind: str = "echo"
    voices: int = 1


class Echo:
    """A third party's."""

    spec_model: ClassVar = EchoSpec
    is_default = False

    @classmethod
    def of(cls, wanted: EchoSpec, log_dir: Path) -> tuple[int, Path]:
        return wanted.voices, log_dir


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        **points_of(system.GROUP),
        "echo": EntryPoint("echo", f"{__name__}:Echo", system.GROUP),
        "broken": EntryPoint("broken", "no.such.module:Thing", system.GROUP),
        "odd": EntryPoint("odd", "os:path", system.GROUP),
    }
    monkeypatch.setattr(system, "points_of", lambda group: points)


def target(**system: object) -> Target:
    return parse(Target, {"name": "t", "driver": "simulated", "system": system}, "t.yaml")


def test_a_system_of_somebody_else_is_found_and_reads_back_the_same(echo: None) -> None:
    made = target(kind="echo", voices=3)
    assert made.system == EchoSpec(voices=3)
    assert Target.model_validate(made.model_dump(mode="json", exclude_defaults=True)) == made
    assert system_class("echo").of(made.system, Path("/x")) == (3, Path("/x"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "kafka"}, r"system\.kind: there is no system of kind 'kafka'; allowed: aeron_media_driver"),
        ({"kind": "odd"}, r"system\.kind: system odd: os:path is not a streamgauge system"),
        ({"kind": "echo", "brokers": 3}, r"system\.brokers: unknown field"),
        ({"brokers": 2}, r"system\.brokers: 2 brokers cannot form a quorum"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(echo: None, given: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        target(**given)


def test_a_system_whose_library_is_missing_says_what_to_install(echo: None) -> None:
    with pytest.raises(NotInstalled, match="system broken cannot be loaded: No module named 'no'"):
        system_class("broken")


def test_a_kind_need_not_be_said_of_the_usual_one() -> None:
    assert target().system == KafkaClusterSpec()
    assert target(properties={"a": True}).system == KafkaClusterSpec(properties={"a": True})
