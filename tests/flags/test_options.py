from __future__ import annotations

from streamgauge.flags.options import listed


def test_words_with_commas_between() -> None:
    assert listed(" a, b ,,c") == ["a", "b", "c"]
    assert listed("") == []
