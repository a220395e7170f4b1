from xml.etree import ElementTree

import pytest
from bench.scale import MINUTES, SIZES, growth_lines
from bench.scale_plot import by_spark, draw

FIGURES = {
    "analysis": {str(n * 10**6): {"seconds": 2.0 * n} for n in (1, 30, 100)},
    "launch": {
        str(n): {"start_s": 0.5 * n, "agree_s": 0.01, "end_s": 0.0, "skew_ms": 1.0 * n} for n in (1, 2, 4)
    },
    "server": {"1": {"mb_per_s": 100.0}},
}


def test_growth_is_told_with_its_error_and_a_billion_is_reckoned() -> None:
    lines = growth_lines(FIGURES)
    assert "analysis: seconds grows as" in lines[0]
    assert "x^1.00 ± 0.00; " in lines[0]
    assert "2.00 µs a message from 30,000,000 on" in lines[0]
    assert lines[0].endswith("so 1,000,000,000 would take 2,000 s (-inf–inf)"), "two sizes have no error"
    assert not any("end_s" in line or "mb_per_s" in line for line in lines), "nothing to draw a line through"


def test_a_billion_is_reckoned_by_the_sizes_that_spark_analyses() -> None:
    """Threads are done before Spark has begun: a line through both says nothing of either."""
    few = {1_000_000: 0.3, 3_000_000: 1.2, 10_000_000: 5.0, 20_000_000: 11.0}
    seconds = few | {n: 3 + 0.7e-6 * n for n in (30_000_000, 50_000_000, 100_000_000)}
    [line] = growth_lines({"analysis": {str(size): {"seconds": took} for size, took in seconds.items()}})
    words = "; 3.0 s + 0.70 µs a message from 30,000,000 on, so 1,000,000,000 would take 703 s (703–703)"
    assert words in line


@pytest.mark.parametrize("part", ["analysis", "packed"])
def test_enough_sizes_are_measured_for_the_error_of_what_is_reckoned(part: str) -> None:
    assert len(by_spark([(float(size), 1.0) for size in SIZES[part]])) >= 3


def test_both_ways_are_begun_between_two_sizes_of_a_threshold() -> None:
    """What a message costs on either side of where another way begins, and of nothing else."""
    costs = {"1900000": 1.0, "2100000": 1.1, "2500000": 1.1, "19000000": 0.5, "21000000": 0.7}
    [line] = growth_lines({"threshold": {size: {"us_a_message": cost} for size, cost in costs.items()}})
    assert line.endswith("1.40×, at 21,000,000")


def test_every_curve_says_how_long_it_takes() -> None:
    assert set(MINUTES) == set(SIZES)


def test_the_last_sizes_have_an_exponent_of_their_own() -> None:
    """Where a constant hides at small sizes how it grows."""
    ends = {str(n): {"end_s": max(0.1, 0.01 * n)} for n in (1, 2, 4, 8, 16, 32, 64, 128)}
    [line] = growth_lines({"launch": ends})
    assert line.endswith("; the last 4 as x^1.00 ± 0.00")
    assert "end_s grows as" in line


def test_where_a_message_is_to_cost_the_same_the_largest_step_is_told() -> None:
    costs = {"1": 1.1, "24": 1.0, "25": 3.0, "64": 3.1}
    [line] = growth_lines({"producers": {size: {"us_a_message": cost} for size, cost in costs.items()}})
    assert line.startswith("producers: µs a message, the largest step")
    assert line.endswith("3.00×, at 25")


def test_every_point_is_drawn_once_and_inside() -> None:
    svg = ElementTree.fromstring(draw(FIGURES))
    circles = svg.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 3 + 3 + 3
    for circle in circles:
        assert 0 <= float(circle.attrib["cx"]) <= 260
        assert 0 <= float(circle.attrib["cy"]) <= 200
