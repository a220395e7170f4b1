from __future__ import annotations

import gc

from streamgauge.gateway.protocol.events import Event, view
from streamgauge.gateway.protocol.updates import Diffing

PLAIN = view(("a", "b"), Diffing())


def test_alike_views_are_the_same_object() -> None:
    assert view(("a", "b"), Diffing()) is PLAIN
    assert view(("b", "a"), Diffing()) is not PLAIN
    assert view(("a", "b"), Diffing(("P",))) is not PLAIN


def test_views_that_nobody_uses_go() -> None:
    before = id(view(("only", "here"), Diffing()))
    gc.collect()
    again = view(("other",), Diffing()), view(("only", "here"), Diffing())
    assert before  # The first one may have left its place to any of the others.
    assert again[0] is not again[1]


def test_a_line_is_made_once_for_all_who_get_the_same() -> None:
    first, second = Event({"a": "1", "b": "2"}), Event({"a": "1", "b": "3"})
    assert first.line(b"U,1,1,", PLAIN, None) == b"U,1,1,1|2\r\n"
    assert second.line(b"U,1,1,", PLAIN, first) == b"U,1,1,|3\r\n"
    assert second.line(b"U,1,1,", PLAIN, first) is second.line(b"U,1,1,", PLAIN, first)
    assert second.line(b"U,2,5,", PLAIN, first) == b"U,2,5,|3\r\n"
    assert second.line(b"U,1,1,", PLAIN, None) == b"U,1,1,1|3\r\n"


def test_fields_that_an_event_lacks_are_null() -> None:
    assert Event({"b": "2"}).line(b"", PLAIN, None) == b"#|2\r\n"


def test_its_size_grows_with_its_values() -> None:
    assert Event({"a": "x" * 1000}).size_bytes - Event({"a": None}).size_bytes == 1000
