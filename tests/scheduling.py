"""In which order files of tests are begun, and which tests get a second try.

Two processes take one file after another (`--dist loadfile`). The long ones come first: else the last file of
one process may be the longest of all, and the other process has nothing to do meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

SECONDS = {
    "launch/test_run_cycle.py": 150,
    "families/compare/test_command.py": 118,
    "families/transports/test_command.py": 117,
    "cli/test_leader.py": 95,
    "families/fanout/test_command.py": 86,
    "families/e2e/test_command.py": 82,
    "analysis/test_pipeline.py": 72,
    "cli/test_hdfs.py": 68,
    "launch/test_known_answers.py": 49,
    "analysis/feeding/test_feeding.py": 47,
    "cli/test_several_hosts.py": 60,
    "families/limit/test_command.py": 45,
    "launch/test_hadoop_files.py": 39,
    "families/sweep/test_command.py": 33,
    "cli/test_live.py": 33,
    "families/fanout/test_points.py": 23,
    "cli/test_drivers.py": 23,
    "cli/test_bad_input.py": 21,
    "report/test_page_renderer.py": 20,
    "gateway/connector/test_source_outages.py": 17,
    "systems/test_kafka_cluster.py": 16,
}
"""About how long the longest files took on two cores, from `pytest --durations=40`; others are short."""

_MARKS = ("broker", "spark", "browser", "process")
_FIXTURES = frozenset({"kafka", "spark", "session", "browser", "redis_is_there", "rabbitmq_is_there"})


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
