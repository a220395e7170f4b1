"""A workload from a page: what is right is taken, what would harm is refused before it does."""

from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.serve.workload_text import MOST_BYTES, workload_in

RIGHT = """
kind: e2e
name: fine
targets: [{name: k, driver: simulated}]
load: {messages: 100, rate: 10}
"""
LAUGHS = "a: &a [x, x]\n" + "\n".join(
    f"{after}: &{after} [*{before}, *{before}, *{before}, *{before}]"
    for before, after in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True)
)


def test_a_right_one_is_read() -> None:
    assert workload_in(RIGHT).name == "fine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "aliases are not taken here"),
        ("<<: *a", "aliases are not taken here"),
        ("[" * 5000, "nested too deeply"),
        ("a:\n" + "".join("  " * n + f"- b{n}:\n" for n in range(1, 60)), "nested too deeply"),
        ("a: " + "x" * MOST_BYTES, "longer than"),
        ("- x\n" * 5000, "more than"),
        ("!!python/object/apply:os.system ['touch /tmp/owned']", "not valid YAML"),
        ("!!python/name:os.system", "not valid YAML"),
        ("a: [", "not valid YAML"),
        ("day: 2026-13-45", "not valid YAML"),
        ("just words", "must be a mapping"),
        ("", "must be a mapping"),
        ("\x00", "not valid YAML"),
        (RIGHT.replace("[{name: k, driver: simulated}]", "[/etc/passwd]"), "files are not read here"),
        (RIGHT + "  message: {size: {lines_of: /etc/passwd}}\n", "not valid YAML"),
        (
            RIGHT.replace("rate: 10}", "rate: 10, message: {size: {lines_of: /etc/passwd}}}"),
            "files are not read here",
        ),
        (RIGHT.replace("kind: e2e", "kind: e2e\nrm: -rf"), "unknown field"),
        (RIGHT.replace("name: fine", "name: ../../etc"), "name"),
        (RIGHT.replace("messages: 100", "messages: none at all"), "messages"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        workload_in(text)
