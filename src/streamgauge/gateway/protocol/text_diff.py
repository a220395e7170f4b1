"""TLCP-diff, the `^T` form of a value: copy, add, delete, copy … over the previous value.

A number is written in base 26, its last digit as a small letter, those before as capitals, A and a
being 0. Counts are UTF-16 units, so it is not for characters above U+FFFF. One hunk is made here:
what both have in front, what is new between, what both have behind. Any number can be read.
"""

from __future__ import annotations

_BASE = 26


def diff(old: str, new: str) -> str | None:
    """What makes `new` of `old`; None where the format does not apply."""
    if not (_is_basic(old) and _is_basic(new)):
        return None
    shortest = min(len(old), len(new))
    front = _common(old, new, shortest)
    behind = _common_behind(old, new, shortest - front)
    added = new[front : len(new) - behind]
    made = _number(front)
    if added or behind:
        made += _number(len(added)) + added
    if behind:
        # What is not copied at the end is gone anyway: deletions matter only before a copy.
        made += _number(len(old) - front - behind) + _number(behind)
    return made


def apply(old: str, difference: str) -> str:
    """The value meant; ValueError when the difference is not one of `old`."""
    result: list[str] = []
    at, taken, step = 0, 0, 0
    while at < len(difference):
        count, at = _read_number(difference, at)
        if step % 3 == 1:
            if at + count > len(difference):
                raise ValueError("a TLCP-diff ends before the text it adds")
            result.append(difference[at : at + count])
            at += count
        else:
            if taken + count > len(old):
                raise ValueError("a TLCP-diff reaches past the end of the previous value")
            if step % 3 == 0:
                result.append(old[taken : taken + count])
            taken += count
        step += 1
    return "".join(result)


def _is_basic(text: str) -> bool:
    return text.isascii() or max(text) <= "\uffff"


def _common(old: str, new: str, longest: int) -> int:
    """How many characters both begin with, at most `longest`: halving, as comparing slices is fast."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_behind(old: str, new: str, longest: int) -> int:
    low, high, ends = 0, longest, (len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[ends[0] - middle : ends[0] - low] == new[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _number(count: int) -> str:
    text = chr(ord("a") + count % _BASE)
    while count := count // _BASE:
        text = chr(ord("A") + count % _BASE) + text
    return text


def _read_number(text: str, at: int) -> tuple[int, int]:
    count = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if "a" <= letter <= "z":
            return count * _BASE + ord(letter) - ord("a"), at
        if not "A" <= letter <= "Z":
            break
        count = count * _BASE + ord(letter) - ord("A")
    raise ValueError("a TLCP-diff has no number where one should be")
