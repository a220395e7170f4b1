"""In which order files of tests are begun, and which tests get a second try.

A few processes take one file after another (`--dist loadfile`). The long ones come first: else the last file
of one process may be the longest of all, and the others have nothing to do meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

SECONDS = {
    "cli/test_leader.py": 120,
    "launch/test_run_cycle.py": 115,
    "families/transports/test_command.py": 110,
    "families/fanout/test_command.py": 90,
    "families/compare/test_command.py": 75,
    "cli/test_several_hosts.py": 65,
    "cli/test_named_causes.py": 60,
    "cli/test_s3.py": 60,
    "cli/test_yarn.py": 60,
    "api/test_example_notebook.py": 56,
    "faults/test_brokers.py": 55,
    "families/e2e/test_command.py": 55,
    "families/limit/test_command.py": 50,
    "cli/test_hdfs.py": 45,
    "launch/test_known_answers.py": 45,
    "analysis/test_pipeline.py": 40,
    "analysis/feeding/test_feeding.py": 40,
    "launch/test_hadoop_files.py": 39,
    "report/test_page_renderer.py": 36,
    "test_wheel.py": 35,
    "cli/test_live.py": 33,
    "cli/test_ends.py": 32,
    "gateway/server/storm/test_storm.py": 32,
    "systems/test_kafka_cluster.py": 30,
    "serve/test_in_a_browser.py": 30,
    "families/sweep/test_command.py": 28,
    "gateway/connector/test_source_outages.py": 25,
    "families/toy/test_toy_family.py": 25,
    "gateway/server/test_serving.py": 22,
    "gateway/server/test_official_clients_come_back.py": 22,
    "drivers/kafka/java/test_driver.py": 22,
    "families/fanout/test_gateway_there.py": 20,
    "comparing/test_real_pairs.py": 18,
    "cli/test_drivers.py": 17,
    "families/fanout/test_points.py": 16,
    "core/test_guardian.py": 13,
    "drivers/rabbitmq/test_streams.py": 13,
    "gateway/connector/test_arbitrary_input.py": 12,
    "launch/test_target_run.py": 12,
    "report/test_words_table.py": 12,
    "drivers/kafka/confluent/test_driver.py": 11,
    "payload/test_compression.py": 10,
    "gateway/protocol/test_updates.py": 10,
    "jvm/test_compiler.py": 10,
    "payload/test_reading.py": 9,
    "families/fanout/test_consume.py": 9,
    "cli/test_bad_input.py": 8,
    "launch/test_spark_session.py": 8,
}
"""About how long the longest files take on two cores, waiting included, from `pytest --durations=0`."""

_MARKS = ("broker", "spark", "browser", "process")
_FIXTURES = frozenset(
    {"kafka", "spark", "session", "browser", "redis_is_there", "rabbitmq_is_there", "run_here"}
)


def heaviest_first(items: list[pytest.Item]) -> None:
    """In place; tests of one file stay together, in their order."""
    items.sort(key=lambda item: -SECONDS.get(item.nodeid.partition("::")[0].removeprefix("tests/"), 0))


def give_second_tries(items: Iterable[pytest.Item]) -> None:
    """To tests whose processes a loaded machine may keep waiting; never to what is computed in this one."""
    for item in items:
        if is_at_the_mercy_of_the_machine(item):
            item.add_marker(pytest.mark.flaky(reruns=1))


def is_at_the_mercy_of_the_machine(item: pytest.Item) -> bool:
    if any(item.get_closest_marker(name) is not None for name in _MARKS):
        return True
    return not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
