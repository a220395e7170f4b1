from __future__ import annotations

from streamgauge.core.clock import NS_PER_S, ClockReading, now_ns
from streamgauge.launch.agreed_start import ReadyAgent, agreed_start

FAR_NS = now_ns() + 10**15
"""So far ahead that the launcher's own clock does not matter."""


def ready(host: str, monotonic_ns: int, offset_ns: int = 0, error_ns: int = 0) -> ReadyAgent:
    return ReadyAgent(ClockReading(host, monotonic_ns, 0, 100), host, offset_ns, error_ns)


def test_on_one_host_all_start_at_one_time_after_the_last_was_ready() -> None:
    agents = {"producer-0": ready("h", FAR_NS), "consumer-0": ready("h", FAR_NS + 4000)}
    starts = agreed_start(agents, 0.5, "h")
    assert {start.at_ns for start in starts.values()} == {FAR_NS + 4000 + NS_PER_S // 2}
    assert {start.reference_offset_ns for start in starts.values()} == {0}
    assert {start.reference_error_ns for start in starts.values()} == {0}


def test_the_launcher_never_names_a_moment_that_has_passed() -> None:
    before = now_ns()
    [start] = agreed_start({"producer-0": ready("h", 1000)}, 0.5, "h").values()
    assert start.at_ns >= before + NS_PER_S // 2


def test_another_host_is_told_the_same_moment_on_its_own_clock() -> None:
    """The second host was booted 100 s later, so its monotonic clock is 100 s behind."""
    behind_ns = 100 * NS_PER_S
    agents = {
        "producer-0": ready("launcher", FAR_NS),
        "consumer-0": ready("b", FAR_NS - behind_ns + 5, behind_ns, 70),
    }
    starts = agreed_start(agents, 1.0, "launcher")
    assert starts["producer-0"].at_ns == FAR_NS + 5 + NS_PER_S
    assert starts["consumer-0"].at_ns == FAR_NS + 5 + NS_PER_S - behind_ns
    assert starts["consumer-0"].reference_offset_ns == behind_ns
    assert starts["consumer-0"].reference_error_ns == 70


def test_one_agent_of_each_host_that_the_launcher_is_not_on_samples_the_machine() -> None:
    agents = {f"producer-{n}": ready(host, n) for n, host in enumerate("abab")}
    starts = agreed_start(agents, 1.0, "a")
    assert [start.sample_machine for start in starts.values()] == [False, True, False, False]
