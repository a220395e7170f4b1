from __future__ import annotations

from bench.ratio import Ratio, in_pairs, in_turns


def test_below_six_pairs_there_is_no_interval() -> None:
    """But how far the pairs lie apart is said."""
    line = Ratio("x", "≥ 1", [2.0, 2.4, 2.0, 1.7, 2.0], [1.0] * 5).line("msg/s")
    assert "2.00×" in line
    assert "1.70–2.40, no interval from 5 pairs, it takes 6" in line


def test_six_pairs_have_an_interval_around_the_median() -> None:
    line = Ratio("x", "≥ 1", [1.9, 2.0, 2.1, 2.0, 1.95, 2.05], [1.0] * 6).line("msg/s")
    assert "2.00×" in line
    assert "95% 1.9" in line
    assert "of 6 pairs" in line


def test_nothing_measured_is_said() -> None:
    assert "nothing was measured" in Ratio("x", "≥ 1").line("ms")


def test_sides_take_turns_and_the_first_pair_does_not_count() -> None:
    order: list[str] = []
    counts = list(in_turns(3, lambda: order.append("a"), lambda: order.append("b")))
    assert "".join(order) == "baabbaab"
    assert counts == [False, True, True, True]


def test_each_measurement_has_a_topic_of_its_own() -> None:
    topics: list[str] = []

    def figure(topic: str) -> float:
        topics.append(topic)
        return float(len(topics))

    ratio = in_pairs(2, Ratio("x", "≥ 1"), figure, figure)
    assert len(set(topics)) == 6
    assert (ratio.ours, ratio.theirs) == ([3.0, 6.0], [4.0, 5.0])
