from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given

from streamgauge.gateway.protocol import percent

from ...core.properties import untimed
from .strategies import texts, tricky


def test_a_plus_is_a_plus_and_a_blank_is_20() -> None:
    assert percent.decode("a+b%20c%2Bd") == "a+b c+d"


@pytest.mark.parametrize("text", ["%", "%2", "%zz", "a%", "%e4"])
def test_what_is_no_percent_encoded_utf_8_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any kind will do
        percent.decode(text)


@given(texts | tricky)
@untimed
def test_what_is_encoded_decodes(text: str) -> None:
    assert percent.decode(percent.encode_argument(text)) == text
    assert percent.decode(percent.encode_field(text)) == text
    assert percent.decode(percent.encode_request_value(text)) == text
    assert "," not in percent.encode_argument(text)
    assert not set("&=\r\n ") & set(percent.encode_request_value(text))


@given(texts | tricky)
@untimed
def test_a_field_keeps_what_need_not_be_encoded(text: str) -> None:
    encoded = percent.encode_field(text)
    assert not set("|\r\n") & set(encoded)
    if not set("%|\r\n") & set(text):
        assert encoded == text
    assert unquote(encoded) == text
