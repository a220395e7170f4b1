"""The messages of the fan-out scenarios: text without and with keys, and JSON of which little changes.

base      <stamp>-pid-<producer>-<random letters and digits>     no key
keyed     the same                                               a key of 40
json      {"timestamp", "pid", "text"}                           a key of 40
complex   a person: id, four texts, four numbers, three hobbies, timestamp; the key is the id.
          An update changes the timestamp, one text and one number.
verycomplex  the same, with a short text `changes` behind the id. An update changes the timestamp, `changes`
          and one number; the four long texts stay as they are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, get_args

from streamgauge.drivers.swarm import MessageKind
from streamgauge.families.fanout.stamps import stamp_text

KINDS: tuple[MessageKind, ...] = get_args(MessageKind)

# fmt: off
FRUITS = (
    "Apple", "Apricot", "Avocado", "Banana", "Bilberry", "Blackberry", "Blueberry", "Cherry",
    "Clementine", "Coconut", "Cranberry", "Currant", "Date", "Durian", "Elderberry", "Feijoa", "Fig",
    "Gooseberry", "Grape", "Guava", "Jackfruit", "Kiwi", "Kumquat", "Lemon", "Lime", "Lychee", "Mango",
    "Melon", "Mulberry", "Nectarine", "Olive", "Orange", "Papaya", "Peach", "Pear", "Persimmon",
    "Pineapple", "Plum", "Pomegranate", "Raspberry",
)
# fmt: on
# fmt: off
PEOPLE = (
    "Ada", "Alan", "Barbara", "Bjarne", "Brian", "Carol", "Claude", "Dennis", "Donald", "Edsger",
    "Evelyn", "Frances", "Fred", "Grace", "Guido", "Hedy", "Ivan", "James", "Jean", "John", "Joan",
    "Katherine", "Ken", "Larry", "Leslie", "Linus", "Margaret", "Marvin", "Mary", "Niklaus", "Peter",
    "Radia", "Richard", "Robin", "Seymour", "Shafi", "Sophie", "Tim", "Tony", "Vint",
)
# fmt: on
HOBBIES = ("chess", "cycling", "gardening", "hiking", "knitting", "painting", "reading", "sailing", "singing")

TEXTS = ("firstText", "secondText", "thirdText", "fourthText")
NUMBERS = ("firstnumber", "secondNumber", "thirdNumber", "fourthNumber")
"""The first is spelled as the connector's configuration of that scenario asks for it."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_POOL_LENGTH = 1 << 20
_CHANGES_LENGTH = 20
_LARGEST_NUMBER = 2**31 - 1
"""JavaScript's numbers hold it, so a patch may carry it."""


@dataclass(frozen=True, slots=True)
class ScenarioMessage:
    key: int
    """Its place among the keys; -1: none."""
    key_bytes: bytes | None
    value: bytes


class ScenarioMessages:
    """All producers' messages, in the order in which they are due: a person is known to all of them."""

    def __init__(self, kind: MessageKind, size: int, seed: int) -> None:
        """`size`: of the random text; a person's four texts share it."""
        self._kind, self._size = kind, size
        self._random = random.Random(seed)
        letters = self._random.choices(_LETTERS, k=_POOL_LENGTH + size)
        self._pool = "".join(letters)
        self.keys = keys_of(kind)
        self._key_bytes = [key.encode() for key in self.keys]
        self._people = [self._person(name) for name in PEOPLE] if self.keys is PEOPLE else []

    def make(self, producer: int, wall_ns: int) -> ScenarioMessage:
        stamp = stamp_text(wall_ns)
        key = self._random.randrange(len(self.keys)) if self.keys else -1
        if self._people:
            text = self._update(self._people[key], stamp)
        elif self._kind == "json":
            text = f'{{"timestamp":"{stamp}","pid":"pid-{producer}","text":"{self._text(self._size)}"}}'
        else:
            text = f"{stamp}-pid-{producer}-{self._text(self._size)}"
        return ScenarioMessage(key, self._key_bytes[key] if self.keys else None, text.encode())

    def _person(self, name: str) -> dict[str, Any]:
        texts = {text: self._text(self._size // 4) for text in TEXTS}
        numbers = {number: self._random.randint(0, _LARGEST_NUMBER) for number in NUMBERS}
        hobbies = self._random.sample(HOBBIES, 3)
        changes = {"changes": self._text(_CHANGES_LENGTH)} if self._kind == "verycomplex" else {}
        return {"id": name, **changes, **texts, **numbers, "hobbies": hobbies, "timestamp": ""}

    def _update(self, person: dict[str, Any], stamp: str) -> str:
        if "changes" in person:
            person["changes"] = self._text(_CHANGES_LENGTH)
        else:
            person[self._random.choice(TEXTS)] = self._text(self._size // 4)
        number = self._random.choice(NUMBERS)
        person[number] = (person[number] + self._random.randint(1, _LARGEST_NUMBER)) % (_LARGEST_NUMBER + 1)
        person["timestamp"] = stamp
        return _json(person)

    def _text(self, length: int) -> str:
        start = self._random.randrange(_POOL_LENGTH)
        return self._pool[start : start + length]


def keys_of(kind: MessageKind) -> tuple[str, ...]:
    """The keys that messages have; none: no key."""
    if kind == "base":
        return ()
    return PEOPLE if kind in ("complex", "verycomplex") else FRUITS


def _json(person: dict[str, Any]) -> str:
    """Nothing in a person needs escaping."""
    parts = []
    for name, value in person.items():
        if isinstance(value, list):
            written = "[" + ",".join(f'"{item}"' for item in value) + "]"
        else:
            written = str(value) if isinstance(value, int) else f'"{value}"'
        parts.append(f'"{name}":{written}')
    return "{" + ",".join(parts) + "}"
