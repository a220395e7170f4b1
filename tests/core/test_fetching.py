from __future__ import annotations

import threading

from streamgauge.core.fetching import hears_of_fetching, tell_fetching


def test_the_innermost_hears_of_it_until_its_end() -> None:
    outer, inner = list[str](), list[str]()
    with hears_of_fetching(lambda words, _: outer.append(words)):
        with hears_of_fetching(lambda words, _: inner.append(words)):
            tell_fetching("one")
        tell_fetching("two")
    tell_fetching("three")
    assert (inner, outer) == (["one"], ["two"])


def test_what_another_thread_fetches_is_no_stage_of_ours() -> None:
    heard = list[str]()
    with hears_of_fetching(lambda words, _: heard.append(words)):
        beside = threading.Thread(target=tell_fetching, args=("beside",))
        beside.start()
        beside.join()
    assert heard == []
