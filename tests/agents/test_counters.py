from __future__ import annotations

from streamgauge.agents.counters import added


def test_counters_are_added_but_the_processes_own_only_once() -> None:
    one, other = {"crossings": 3, "jni_calls": 10}, {"crossings": 4, "jni_calls": 12}
    assert added(one, other) == {"crossings": 7, "jni_calls": 12}
