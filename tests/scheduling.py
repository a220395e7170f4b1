"""In which order files of tests are begun, and which tests get a second try.

A few processes take one file after another (`--dist loadfile`). The long ones come first: else the last file
of one process may be the longest of all, and the others have nothing to do meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

SECONDS = {
    "families/fanout/test_command.py": 300,
    "cli/test_leader.py": 250,
    "launch/test_run_cycle.py": 240,
    "families/transports/test_command.py": 220,
    "cli/test_yarn.py": 160,
    "cli/test_s3.py": 125,
    "launch/test_hadoop_files.py": 120,
    "families/compare/test_command.py": 115,
    "cli/test_several_hosts.py": 100,
    "families/limit/test_command.py": 87,
    "families/e2e/test_command.py": 85,
    "analysis/feeding/test_feeding.py": 76,
    "drivers/kafka/java/test_driver.py": 74,
    "launch/test_known_answers.py": 60,
    "faults/test_whole_runs.py": 55,
    "cli/test_live.py": 50,
    "systems/test_kafka_cluster.py": 49,
    "families/sweep/test_command.py": 45,
    "cli/test_named_causes.py": 45,
    "cli/test_killed_runs.py": 45,
    "cli/test_ends.py": 44,
    "api/test_example_notebook.py": 43,
    "analysis/test_pipeline.py": 41,
    "test_wheel.py": 40,
    "report/test_page_renderer.py": 38,
    "families/toy/test_toy_family.py": 35,
    "families/compare/test_verdict_trials.py": 35,
    "drivers/kafka/confluent/test_driver.py": 34,
    "gateway/server/storm/test_storm.py": 33,
    "gateway/server/test_serving.py": 30,
    "drivers/kafka/test_secured_clusters.py": 30,
    "families/fanout/test_gateway_there.py": 28,
    "families/compare/test_referee.py": 28,
    "gateway/connector/test_source_outages.py": 26,
    "serve/test_in_a_browser.py": 24,
    "drivers/rabbitmq/test_streams.py": 23,
    "gateway/server/test_official_clients_come_back.py": 23,
    "analysis/rolling/test_step.py": 22,
    "launch/test_settling_trials.py": 21,
    "analysis/rolling/test_soak.py": 21,
    "faults/test_brokers.py": 21,
    "test_suite_ends.py": 20,
    "families/fanout/test_points.py": 19,
    "cli/test_drivers.py": 18,
    "families/fanout/test_consume.py": 18,
    "systems/test_local_cluster.py": 17,
    "comparing/test_differences.py": 17,
    "cli/test_main.py": 16,
    "native/test_rows.py": 15,
    "cli/test_gateway.py": 15,
    "comparing/test_simulated_trials.py": 15,
    "testing/machines/test_bed.py": 15,
    "families/limit/test_show.py": 14,
    "faults/test_disks.py": 14,
    "jvm/test_compiler.py": 14,
    "golden/test_golden.py": 14,
    "payload/test_compression.py": 14,
    "drivers/kafka/python/test_driver.py": 14,
    "report/test_words_table.py": 13,
    "systems/test_rabbitmq_server.py": 13,
    "test_scheduling.py": 12,
    "report/test_invalid_pages.py": 12,
    "families/compare/test_turn_taking.py": 12,
    "importing/test_omb_workload.py": 12,
    "cli/test_runs.py": 12,
    "families/fanout/test_examples.py": 11,
    "comparing/test_histories.py": 11,
    "test_drivers_are_not_named.py": 11,
    "drivers/kafka/confluent/test_native_producer.py": 11,
    "drivers/kafka/aio/test_driver.py": 11,
    "launch/test_target_run.py": 10,
    "systems/test_kafka_priming.py": 10,
    "report/test_document.py": 10,
    "families/compare/test_block_rest.py": 10,
    "drivers/test_order_loops.py": 10,
    "gateway/connector/test_arbitrary_input.py": 10,
    "report/test_case_outcomes.py": 9,
    "families/compare/test_show.py": 9,
    "families/transports/test_show.py": 9,
    "api/test_runs.py": 9,
    "systems/test_push_gateway.py": 9,
    "core/test_guardian.py": 9,
}
"""About how long the longest files take, four side by side on two cores, from `pytest --durations=0`."""

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


def forget_what_failed(item: pytest.Item) -> None:
    """Before a second try: what the tests of this file share is made anew, for it may be what failed."""
    if getattr(item, "execution_count", 1) < 2 or not isinstance(item, pytest.Function):
        return
    own_file, request = item.nodeid.partition("::")[0], cast(Any, item._request)
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        for definition in definitions:
            if definition.baseid == own_file and definition.scope == "module":
                definition.finish(request)


def is_at_the_mercy_of_the_machine(item: pytest.Item) -> bool:
    if any(item.get_closest_marker(name) is not None for name in _MARKS):
        return True
    return not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
