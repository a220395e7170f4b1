from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.push.timed_field import TimedField, TimeReader
from streamgauge.gateway.protocol import text_diff

STAMP = "2026-01-31 12:00:00.123456789"


def test_the_time_has_a_field_of_its_own_or_comes_first_in_a_text_or_is_inside_json() -> None:
    own = TimedField.of(("key", "timestamp", "value"), "complex")
    assert (own.index, own.fields, own.stamp_of(STAMP)) == (1, 3, STAMP)
    text = TimedField.of(("key", "value"), "keyed")
    assert (text.index, text.stamp_of(f"{STAMP}-pid-1")) == (1, f"{STAMP}-pid-1")
    inside = TimedField.of(("value",), "json")
    assert inside.stamp_of(f'{{"pid":"1","timestamp":"{STAMP}"}}') == STAMP
    assert inside.stamp_of(None) == ""


def test_fields_without_a_time_are_refused() -> None:
    with pytest.raises(BadInput, match="timestamp or value is needed"):
        TimedField.of(("key",), "base")


def test_of_an_update_only_that_field_is_looked_at() -> None:
    field = TimedField.of(("a", "timestamp", "b", "c"), "complex")
    assert field.found_in(f"1|{STAMP}|2|3", is_first=True) == STAMP
    assert field.found_in(f"|{STAMP}|^2", is_first=False) == STAMP
    assert field.found_in("^4", is_first=False) == ""
    # A difference of a value that nobody kept is no matter.
    assert field.found_in(f"^Tb|{STAMP}|^P[]|", is_first=False) == STAMP


@pytest.mark.parametrize("body", ["1|2|3", "^5", "|^4", "^0|1|2|3", "^x|1|2|3"])
def test_what_is_no_update_of_so_many_fields_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="an update"):
        TimedField.of(("a", "timestamp", "b", "c"), "complex").found_in(body, is_first=False)


def test_the_first_update_has_to_be_whole() -> None:
    with pytest.raises(ValueError, match="unchanged that are not there"):
        TimedField.of(("a", "timestamp"), "complex").found_in(f"|{STAMP}", is_first=True)


def test_a_difference_is_applied_to_what_was_before() -> None:
    later = STAMP.replace("12:00", "12:01")
    diff = text_diff.diff(STAMP, later)
    reader = TimeReader(TimedField.of(("key", "value"), "keyed"))
    assert reader.read(f"k|{STAMP}") == STAMP
    assert reader.read(f"|^T{diff}") == later
    assert reader.read("^2") == later
    other = TimeReader(TimedField.of(("key", "value"), "keyed"))
    other.begin_with(STAMP)
    assert other.applied(f"^T{diff}") == later
