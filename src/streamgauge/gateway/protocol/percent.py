"""Percent-encoding: of request values, of arguments and of field values, which all differ."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_ARGUMENT = str.maketrans({"%": "%25", ",": "%2C", "\r": "%0D", "\n": "%0A"})
_REQUEST_VALUE = str.maketrans(
    {"%": "%25", "&": "%26", "=": "%3D", "+": "%2B", "\r": "%0D", "\n": "%0A", " ": "%20"}
)
_FIELD = str.maketrans({"%": "%25", "|": "%7C", "\r": "%0D", "\n": "%0A"})


def decode(text: str) -> str:
    """The text meant; ValueError for a broken escape, or for what is not UTF-8. `+` is a plus."""
    if "%" not in text:
        return text
    if _BROKEN.search(text):
        raise ValueError("a % is not followed by two hexadecimal digits")
    return unquote_to_bytes(text).decode()


def encode_argument(text: str) -> str:
    """For a response or a notification: clients cut at every comma, so also in the last argument."""
    return text.translate(_ARGUMENT)


def encode_request_value(text: str) -> str:
    return text.translate(_REQUEST_VALUE)


def encode_field(text: str) -> str:
    """For a field of an update. Four searches for a character are cheaper than one translation."""
    if "%" in text or "|" in text or "\r" in text or "\n" in text:
        return text.translate(_FIELD)
    return text
