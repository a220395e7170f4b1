"""A live view that cannot be: said once, and nothing else happens."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from streamgauge.jvm.jars import JarsUnavailable
from streamgauge.launch import live_view
from streamgauge.launch.live_view import LiveView
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

TARGET = {"name": "k", "driver": "kafka_confluent"}
NOWHERE = "127.0.0.1:9"


@pytest.fixture
def case() -> Case:
    [case] = list(
        make_plan(Workload.model_validate({"targets": [TARGET], "load": {"messages": 9}}), "run").cases
    )
    return case


@pytest.fixture
def said() -> list[str]:
    return []


def view(said: list[str], **wish: Any) -> LiveView:
    return LiveView("run", LiveWish(LiveMode.on, **wish), 1, "local[2]", said.append)


def check_there_is_none(shown: LiveView, case: Case) -> None:
    assert shown.bootstrap is None
    assert not shown.begin(case)
    shown.end(case, "ok", [])
    shown.close_target()
    shown.close("over")


@pytest.mark.spark
def test_a_broker_that_does_not_answer(
    spark: SparkSession, case: Case, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_view, "_REACH_DEADLINE_S", 0.5)
    shown = view(said, bootstrap=NOWHERE)
    for _ in range(2):
        shown.open(spark, case.target, "127.0.0.1:10", 1)
    check_there_is_none(shown, case)
    [words] = said
    assert words.startswith(f"live view: none: Kafka at {NOWHERE} did not answer within 0.5 s")


@pytest.mark.spark
def test_no_slot_and_no_kafka(spark: SparkSession, case: Case, said: list[str]) -> None:
    shown = view(said)
    shown.open(spark, case.target, NOWHERE, 2)
    shown.open(spark, case.target, None, 1)
    check_there_is_none(shown, case)
    assert said == [
        "live view: none: local[2] has 2 slots, and agents take 2",
        "live view: none: target k is no Kafka; name one with --live-bootstrap",
    ]


@pytest.mark.spark
@pytest.mark.broker
def test_spark_without_the_jars_leaves_no_topic_behind(
    spark: SparkSession, kafka: str, case: Case, said: list[str]
) -> None:
    shown = view(said)
    shown.open(spark, case.target, kafka, 1)
    check_there_is_none(shown, case)
    [words] = said
    assert words.startswith("live view: none: Spark cannot read the topic: ")
    assert "kafka" in words
    topics = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).topics
    assert not [name for name in topics if name.startswith("_streamgauge")]


def test_jars_that_cannot_be_had(case: Case, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(lock: str) -> list[Any]:
        raise JarsUnavailable(f"cannot download {lock}")

    monkeypatch.setattr(live_view, "fetch", refuse)
    shown = view(said)
    assert shown.jars() == []
    session: Any = None  # nobody asks for it
    shown.open(session, case.target, NOWHERE, 1)
    check_there_is_none(shown, case)
    assert said == ["live view: none: cannot download spark-kafka"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            [{"published": 9, "undelivered": 2, "messages": 90, "cpu_s": 0.1, "reason": "timed out"}],
            "live view: 2 of 9 messages did not arrive: timed out",
        ),
        (
            [{"published": 0, "undelivered": 0, "messages": 0, "cpu_s": 0.0, "reason": "no broker"}],
            "live view: agents could not publish: no broker",
        ),
    ],
)
def test_what_agents_could_not_publish_is_said_once(
    case: Case, said: list[str], told: list[dict[str, Any]], words: str
) -> None:
    shown = view(said)
    shown._query, shown._cpu = _Query(), _Cpu()  # type: ignore[assignment]
    for _ in range(2):
        assert shown.begin(case)
        shown.end(case, "ok", told)
    assert said.count(words) == 1
    assert shown.costs["001"]["agents_cpu_s"] == told[0]["cpu_s"]
    assert shown.costs["001"]["spark_cpu_s"] == 1.5


def test_a_query_that_ends_ends_the_view(case: Case, said: list[str]) -> None:
    shown = view(said)
    shown._query, shown._cpu = _Query("Spark's query failed: gone"), _Cpu()  # type: ignore[assignment]
    assert shown.begin(case)
    shown.end(case, "ok", [])
    check_there_is_none(shown, case)
    assert said[-1] == "live view: none: Spark's query failed: gone"


class _Query:
    def __init__(self, why: str | None = None) -> None:
        self._why = why

    def failure(self) -> str | None:
        return self._why

    def stop(self) -> None: ...


class _Cpu:
    def __init__(self) -> None:
        self._used = 0.0

    def seconds(self) -> float:
        self._used += 1.5
        return self._used
