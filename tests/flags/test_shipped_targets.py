from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import streamgauge
from streamgauge.drivers.registry import driver_class
from streamgauge.families.fanout import targets as of_fanout
from streamgauge.flags import kafka_target
from streamgauge.flags.shipped_targets import shipped_target
from streamgauge.spec.loading import parse
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload

FILES = sorted(Path(streamgauge.__file__).parent.rglob("shipped/*.yaml"))


def test_there_are_some() -> None:
    assert {"kafka.yaml", "gateway.yaml", "harness.yaml", "zeromq.yaml"} <= {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.parent.name}/{file.stem}")
def test_each_is_a_target_or_a_workload_as_a_user_would_write_it(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    if "targets" in content:
        targets = list(parse(Workload, {"name": file.stem, **content}, str(file)).targets)
    else:
        targets = [parse(Target, {"name": file.stem, **content}, str(file))]
    assert targets
    assert [driver_class(target).name for target in targets] == [target.driver for target in targets]


def test_it_is_found_beside_who_asks_and_is_theirs_alone() -> None:
    first = shipped_target(kafka_target.__file__, "kafka")
    first["consumer_client"].clear()
    assert shipped_target(kafka_target.__file__, "kafka")["consumer_client"]
    assert shipped_target(of_fanout.__file__, "kafka") != first
