"""Whoever downloads something before it can start says so here; whoever shows what goes on hears of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Hearing = Callable[[str, bool], None]
"""Told what is fetched and how far it is, and whether that was all."""

_hearing: dict[int, Hearing] = {}
"""By thread: what is fetched beside a command's own course is waited for by nobody yet."""


@contextmanager
def hears_of_fetching(hear: Hearing) -> Iterator[None]:
    """Whatever this thread has to fetch within the block."""
    own = threading.get_ident()
    before = _hearing.get(own)
    _hearing[own] = hear
    try:
        yield
    finally:
        _hearing.pop(own)
        if before is not None:
            _hearing[own] = before


def tell_fetching(words: str, *, is_over: bool = False) -> None:
    hear = _hearing.get(threading.get_ident())
    if hear is not None:
        hear(words, is_over)
