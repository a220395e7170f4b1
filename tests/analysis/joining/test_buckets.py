import numpy as np

from streamgauge.analysis.joining.buckets import middles_ns


def middles(values):
    return middles_ns(np.array(values, np.int64)).tolist()


def test_middle_is_within_half_a_tenth_of_a_percent():
    powers = [1 << power for power in range(62)]
    values = [power + step for power in powers for step in (-1, 0, 1)]
    values += [int(value) for value in np.random.default_rng(0).lognormal(15, 6, 5000)]

    for value, middle in zip(values, middles(values), strict=True):
        assert abs(middle - value) <= 0.0005 * value


def test_small_values_and_zero_are_exact():
    values = list(range(-2048, 2049))

    assert middles(values) == values


def test_negative_values_mirror_positive_ones():
    values = [int(value) for value in np.random.default_rng(1).lognormal(15, 3, 1000)]

    assert middles([-value for value in values]) == [-middle for middle in middles(values)]
