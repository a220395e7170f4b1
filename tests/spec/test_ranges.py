from __future__ import annotations

from typing import Any

import pytest

from streamgauge.spec.ranges import MOST_VALUES, listed_values, swept_values


@pytest.mark.parametrize(
    ("path", "given", "values"),
    [
        ("topics.partitions", "1:4", (1, 2, 3, 4)),
        ("topics.partitions", "1:4:1", (1, 2, 3, 4)),
        ("topics.partitions", "1:10:4", (1, 5, 9)),
        ("topics.partitions", "1:9:+4", (1, 5, 9)),
        ("topics.partitions", "1:64:*2", (1, 2, 4, 8, 16, 32, 64)),
        ("topics.partitions", "3:30:*2", (3, 6, 12, 24)),
        ("topics.partitions", "5:5:*2", (5,)),
        ("message.size", "1KiB:16KiB:*4", (1024, 4096, 16384)),
        ("stream_size", "1kB:3kB:1kB", (1000, 2000, 3000)),
        ("rate", "1k/s:2k/s:500/s", (1000, 1500, 2000)),
        ("messages", "10k:20k:10k", (10_000, 20_000)),
        ("topics.partitions", [1, "4:8:*2", 100], (1, 4, 8, 100)),
        ("acks", ["0", "1", "all"], ("0", "1", "all")),
        ("message.size", ["1KiB", {"lines_of": "/a:b"}], ("1KiB", {"lines_of": "/a:b"})),
    ],
)
def test_values(path: str, given: Any, values: tuple[Any, ...]) -> None:
    assert swept_values(path, given) == values


@pytest.mark.parametrize("given", [100, None, {"min": 1}, "all"])
def test_what_is_neither_a_list_nor_a_range_stays_as_it_is(given: Any) -> None:
    assert swept_values("acks", given) == given


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8:1:1", "'8:1:1' is an empty range: 8 is above 1"),
        ("8:1:*2", "is an empty range"),
        ("1:8:0", "never ends"),
        ("1:8:*1", "never ends"),
        ("0:8:*2", "never ends"),
        ("1:8:2:3", "is not a range; allowed: min:max:step"),
        (":8", "is not a range"),
        ("one:8", "'one' is not a count"),
        ("1:1M:1", f"over {MOST_VALUES} values"),
    ],
)
def test_a_range_that_is_none_says_why(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        swept_values("topics.partitions", text)
    assert words in str(caught.value)


def test_a_word_of_a_command_line_may_mix_them() -> None:
    assert listed_values("topics.partitions", "1, 2,4:8:*2") == ("1", "2", 4, 8)
    assert listed_values("topics.partitions", " , ") == ()
