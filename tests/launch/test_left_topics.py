"""Topics of a run that was killed are deleted by its guardian."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from streamgauge.core.guardian import without_mark
from streamgauge.launch.left_topics import TopicsPromise
from streamgauge.launch.target_system import TargetSystem
from streamgauge.spec.target import Target
from tests.waiting import wait_for

MAKES_TOPICS = """
import json, os, sys
from streamgauge.drivers.registry import open_driver
from streamgauge.launch.left_topics import TopicsPromise
from streamgauge.launch.target_system import TargetSystem
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
told = json.loads(sys.argv[1])
target = Target.model_validate(told["target"])
promise = TopicsPromise(target, {"NAME": "a-client"}, TargetSystem("given"))
promise.give(told["topics"])
open_driver(target, {}).prepare_topics(Topics(name="x"), tuple(told["topics"][:-1]))
os.kill(os.getpid(), 9)
"""


def topics_of(kafka: str) -> set[str]:
    return set(AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).topics)


@pytest.mark.broker
def test_topics_go_with_the_run_that_was_killed_also_when_not_all_were_made(
    kafka: str, tmp_path: Path
) -> None:
    names = [f"left-{secrets.token_hex(3)}-{number}" for number in range(3)]
    settings, client = {"bootstrap": kafka}, {"client.id": "${NAME}"}
    target = {"name": "k", "driver": "kafka_confluent", "settings": settings, "client": client}
    others = topics_of(kafka)
    environment = {**without_mark(), "TMPDIR": str(tmp_path)}
    told = json.dumps({"target": target, "topics": names})
    subprocess.run([sys.executable, "-c", MAKES_TOPICS, told], env=environment, timeout=60, check=False)
    wait_for(lambda: not list(tmp_path.iterdir()), 60)
    wait_for(lambda: topics_of(kafka) == others, 10)


def test_topics_of_our_own_system_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr("streamgauge.launch.left_topics.promise", lambda *words: told.append(words))
    target = Target.model_validate({"name": "s", "driver": "simulated"})
    TopicsPromise(target, {}, TargetSystem("ours", goes_with_us=True)).give(["a"])
    assert told == []
    TopicsPromise(target, {}, TargetSystem("theirs")).give(["a"])
    assert len(told) == 1
