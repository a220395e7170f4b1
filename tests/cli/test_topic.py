"""Topics by hand, on a real broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamgauge.cli.topic import topic_app
from streamgauge.core.errors import BadInput
from streamgauge.families.e2e.command import e2e
from streamgauge.families.e2e.workload import EndToEndWorkload

pytestmark = pytest.mark.broker


def said(*arguments: str) -> str:
    done = CliRunner().invoke(topic_app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def topic(kafka: str) -> str:
    name = "by-hand"
    made = said("create", name, "--partitions", "3", "--config", "retention.ms=60000", "--bootstrap", kafka)
    assert made == f"made {name}: 3 partitions, 1 replica\n"
    return name


def test_made_listed_used_and_deleted(kafka: str, topic: str) -> None:
    listed = json.loads(said("list", "--json", "--bootstrap", kafka))
    assert listed[topic] == {"partitions": 3, "replicas": 1}
    assert f"{topic}  3 partitions, 1 replica" in said("list", "--bootstrap", kafka).splitlines()
    with pytest.raises(BadInput, match="already there: by-hand; nothing was made"):
        said("create", "another", topic, "--bootstrap", kafka)
    asked = e2e(bootstrap=kafka, kafka_topic=topic)
    assert isinstance(asked.workload, EndToEndWorkload)
    assert asked.workload.load.topics.partitions == 3
    assert asked.notes == ("topic by-hand exists: it is used with its 3 partitions, and kept",)
    new = e2e(bootstrap=kafka, kafka_topic="not-there", consumers=2)
    assert isinstance(new.workload, EndToEndWorkload)
    assert (new.workload.load.topics.partitions, new.notes) == (2, ())
    with pytest.raises(BadInput, match="not there: nobody; nothing was deleted"):
        said("delete", "nobody", topic, "--bootstrap", kafka)
    assert said("delete", topic, "--bootstrap", kafka) == f"deleted {topic}\n"
    assert topic not in json.loads(said("list", "--json", "--bootstrap", kafka))


def test_a_target_that_is_no_kafka_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("name: t\ndriver: simulated\n")
    with pytest.raises(BadInput, match="works with Kafka only"):
        said("list", "--target", str(tmp_path / "t.yaml"))


@pytest.mark.parametrize(("text", "why"), [("x", "is not name=value"), ("=1", "is not name=value")])
def test_a_setting_needs_a_name_and_a_value(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        said("create", "a", "--config", text, "--bootstrap", "127.0.0.1:1")
