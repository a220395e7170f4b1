from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.units import (
    format_bytes,
    format_rate,
    parse_bytes,
    parse_count,
    parse_rate,
    parse_seconds,
)

from .properties import untimed

PARSERS = [parse_bytes, parse_seconds, parse_count, parse_rate]
every_parser = pytest.mark.parametrize("parse", PARSERS)


@pytest.mark.parametrize(
    ("parse", "text", "amount"),
    [
        (parse_bytes, "700", 700),
        (parse_bytes, "700B", 700),
        (parse_bytes, "1KiB", 1024),
        (parse_bytes, "1.5 KiB", 1536),
        (parse_bytes, "10kB", 10_000),
        (parse_bytes, "1MiB", 1 << 20),
        (parse_bytes, "2gib", 2 << 30),
        (parse_bytes, 42, 42),
        (parse_bytes, 42.0, 42),
        (parse_seconds, "30", 30.0),
        (parse_seconds, "30s", 30.0),
        (parse_seconds, "500ms", 0.5),
        (parse_seconds, "20us", 2e-5),
        (parse_seconds, "20µs", 2e-5),
        (parse_seconds, "2min", 120.0),
        (parse_seconds, "2m", 120.0),
        (parse_seconds, "1h", 3600.0),
        (parse_seconds, 0.25, 0.25),
        (parse_count, "10_000", 10_000),
        (parse_count, "10k", 10_000),
        (parse_count, "1.5M", 1_500_000),
        (parse_count, "1e3", 1000),
        (parse_rate, "1000", 1000.0),
        (parse_rate, "10k/s", 10_000.0),
        (parse_rate, "1.5M/s", 1_500_000.0),
        (parse_rate, "600/min", 10.0),
        (parse_rate, "7200 / h", 2.0),
        (parse_rate, 250, 250.0),
    ],
)
def test_quantities_as_people_write_them(
    parse: Callable[[object], float], text: object, amount: float
) -> None:
    assert parse(text) == pytest.approx(amount, rel=1e-12)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_bytes, "1 parsec"),
        (parse_bytes, "10s"),
        (parse_bytes, "KiB"),
        (parse_bytes, "1.2.3"),
        (parse_bytes, "1 2"),
        (parse_bytes, "1KiB\nx"),
        (parse_seconds, "10k"),
        (parse_seconds, "soon"),
        (parse_seconds, ""),
        (parse_count, "10kB"),
        (parse_count, "1/s"),
        (parse_rate, "10k/"),
        (parse_rate, "10k/day"),
        (parse_rate, "10KiB/s"),
        (parse_rate, "/s"),
        (parse_rate, "1/s/s"),
    ],
)
def test_a_wrong_unit_is_refused_with_what_is_allowed(parse: Callable[[object], float], text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a .*allowed: "):
        parse(text)


@every_parser
@pytest.mark.parametrize("text", ["-1", -1, -0.5, "-1e3"])
def test_nothing_is_negative(parse: Callable[[object], float], text: object) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        parse(text)


@every_parser
@pytest.mark.parametrize("text", ["1e400", "1e300", 10**400, float("inf"), float("nan")])
def test_what_no_column_could_hold_is_refused(parse: Callable[[object], float], text: object) -> None:
    with pytest.raises(ValueError, match="out of range"):
        parse(text)


@every_parser
@pytest.mark.parametrize("value", [True, None, [], {}])
def test_what_is_neither_number_nor_text_is_refused(parse: Callable[[object], float], value: object) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse(value)


@pytest.mark.parametrize(
    ("parse", "text"), [(parse_bytes, "0.5"), (parse_count, "1.2345k"), (parse_count, 0.1)]
)
def test_a_part_of_a_byte_or_of_a_message_is_refused(parse: Callable[[object], float], text: object) -> None:
    with pytest.raises(ValueError, match="whole number"):
        parse(text)


@every_parser
@given(
    text=st.one_of(st.text(), st.from_regex(r"[+-]?\d{1,400}[._e\d+-]{0,6} ?[a-zA-Zµ/]{0,4}", fullmatch=True))
)
@untimed
def test_any_text_is_a_quantity_or_a_value_error(parse: Callable[[object], float], text: str) -> None:
    amount = 0.0
    with contextlib.suppress(ValueError):
        amount = parse(text)
    assert 0 <= amount < 2**63


@given(st.integers(0, 1 << 50), st.sampled_from([("B", 1), ("kB", 1000), ("KiB", 1024), ("MiB", 1 << 20)]))
@untimed
def test_bytes_written_with_a_unit_are_read_back(amount: int, unit: tuple[str, int]) -> None:
    assert parse_bytes(f"{amount // unit[1]}{unit[0]}") == amount // unit[1] * unit[1]


@given(st.integers(0, 1 << 50))
@untimed
def test_a_bare_number_and_its_text_mean_the_same(amount: int) -> None:
    for parse in PARSERS:
        assert parse(amount) == parse(str(amount)) == amount


@given(st.floats(1, 1 << 50))
@untimed
def test_a_formatted_size_is_the_size_to_the_digits_shown(amount: float) -> None:
    number, unit = format_bytes(amount).split()
    shown = float(number) * parse_bytes(f"1{unit}")
    assert shown == pytest.approx(amount, rel=0.05, abs=0.5)


@given(st.floats(0.01, 9e8))
@untimed
def test_a_formatted_rate_is_read_back_to_three_digits(per_s: float) -> None:
    text = format_rate(per_s)
    assert "e" not in text
    assert parse_rate(text) == pytest.approx(per_s, rel=0.0051)


@pytest.mark.parametrize(
    ("per_s", "text"),
    [(250, "250/s"), (999.7, "1k/s"), (10_000, "10k/s"), (999_900, "1M/s"), (1_250_000, "1.25M/s")],
)
def test_rates_are_short(per_s: float, text: str) -> None:
    assert format_rate(per_s) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (5 << 40, "5120.0 GiB")],
)
def test_sizes_are_in_the_largest_unit_that_fits(amount: float, text: str) -> None:
    assert format_bytes(amount) == text
