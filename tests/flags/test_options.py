from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.flags.options import listed, waited


def test_words_with_commas_between() -> None:
    assert listed(" a, b ,,c") == ["a", "b", "c"]
    assert listed("") == []


@pytest.mark.parametrize(("given", "seconds"), [("600", 600.0), ("90s", 90.0), ("10min", 600.0), ("0", 0.0)])
def test_how_long_to_wait_is_a_time(given: str, seconds: float) -> None:
    assert waited("--wait", given) == seconds


@pytest.mark.parametrize("given", ["soon", "-1s"])
def test_what_is_no_time_is_refused_by_the_name_of_the_flag(given: str) -> None:
    with pytest.raises(BadInput, match="--wait"):
        waited("--wait", given)
