"""What is a secret: by the name of a setting, and by the look of its value.

The one place that knows. A target refuses such settings in the clear, and what is written or shown has
them struck out, whether or not it was known to hold one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

STRUCK_OUT = "***"

_REFERENCE = r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}"
REFERENCE = re.compile(_REFERENCE)
_NAME = re.compile(
    r"passw(?:or)?d|passphrase|secret|requirepass|token$|credentials(?!\.client\.id$)"
    r"|key[._]pem$|keystore\.key$|private[._]key$|nkeys?_seed|seed_str$|user\.info$",
    re.IGNORECASE,
)
_USER_INFO = re.compile(r"user\.info$", re.IGNORECASE)
"""`user:password`, of which only the second is one."""
_WORD = r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api_?key|private_?key)"
_VALUE = r"""(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$\{\w+\}[^\s;,&"'}]*|[^\s;,&"'{}]+)"""
_OPTION = re.compile(rf"(?P<before>{_WORD}\s*=\s*){_VALUE}", re.IGNORECASE)
"""`clientSecret="…"` inside a longer text, as in a Java login or behind an address's question mark."""
_FIELD = re.compile(rf"""(?P<before>["']?{_WORD}["']?\s*:\s*){_VALUE}""", re.IGNORECASE)
"""The same in the configuration of a server. Also the beginning of many an error message, so it is not
looked for in those."""
_BEFORE_AT = rf"""(?P<value>{_REFERENCE}(?=@)|[^\s"']+(?=@))"""
_ADDRESS = re.compile(rf"""(?P<before>[A-Za-z][A-Za-z0-9+.-]*://[^\s:@/?#"']*:){_BEFORE_AT}""")
_TOKEN_ADDRESS = re.compile(rf"""(?P<before>\b(?:nats|tls)://)(?![^\s@"']*:){_BEFORE_AT}""")
"""NATS takes what stands alone before the host for a token, not for somebody's name."""
_LOOKS = (_OPTION, _ADDRESS, _TOKEN_ADDRESS)

_LEAST_LETTERS = 3
"""Shorter ones cannot be struck out: they would be found everywhere."""
_LEAST_LINE = 16
"""Letters of a line of a key that is long enough to be known again."""


def is_secret(name: str) -> bool:
    """Whether a setting of that name is one as a whole."""
    return _NAME.search(name) is not None


def in_the_clear(name: str, value: str) -> bool:
    """Whether a setting holds a secret that is not `${NAME}`."""
    if is_secret(name):
        alone = value.partition(":")[2] if _USER_INFO.search(name) and ":" in value else value
        return REFERENCE.fullmatch(alone) is None
    return any(not REFERENCE.fullmatch(part) for part in _parts(value, (*_LOOKS, _FIELD)))


def struck_out(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the secrets that are known, nor what looks like one; references stay."""
    known = {part for secret in secrets for part in _ways_to_write(secret) if len(part) >= _LEAST_LETTERS}
    for part in sorted(known, key=len, reverse=True):
        text = text.replace(part, STRUCK_OUT)
    for look in _LOOKS:
        text = look.sub(_without_value, text)
    return text


def shown(name: str, value: str, secrets: Iterable[str] = ()) -> str:
    """A setting's value as it may be written down."""
    if is_secret(name):
        return value if REFERENCE.fullmatch(value) else STRUCK_OUT
    return struck_out(value, secrets)


def texts_of(field: str, name: str, value: Any) -> Iterator[tuple[str, str, str]]:
    """Path, name and text of every setting, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts_of(f"{field}.{key}", str(key), item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(field, name, item)
    elif value is not None:
        yield field, name, str(value)


def _without_value(match: re.Match[str]) -> str:
    given = match["value"]
    bare = given.strip("\"'")
    if REFERENCE.fullmatch(bare) or bare == STRUCK_OUT:
        return match[0]
    quote = given[0] if given[0] in "\"'" else ""
    return f"{match['before']}{quote}{STRUCK_OUT}{quote}"


def _parts(value: str, looks: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """The secrets inside a longer text."""
    for look in looks:
        for match in look.finditer(value):
            yield match["value"].strip("\"'")


def _ways_to_write(secret: str) -> Iterator[str]:
    """The whole, and what of it may turn up alone: the password of `user:password`, of an address, of a
    login; a line of a key."""
    lines = secret.splitlines()
    whole = [secret, *_parts(secret, (*_LOOKS, _FIELD))]
    if len(lines) > 1:
        whole += [line for line in lines if len(line) >= _LEAST_LINE]
    elif "://" not in secret:
        whole.append(secret.partition(":")[2])
    for one in whole:
        yield one
        yield unquote(one)
