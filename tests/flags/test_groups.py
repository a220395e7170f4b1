from __future__ import annotations

from streamgauge.flags.groups import GENERAL, LOAD, ORDER, TEST, VOCABULARY, group_of, told_by


def test_a_flag_stands_in_the_same_group_everywhere() -> None:
    assert {group_of(word) for word in VOCABULARY} == {LOAD}
    assert group_of("debug") == GENERAL
    assert group_of("one_that_only_a_third_party_has") == TEST
    assert len(set(ORDER)) == len(ORDER)


def test_a_command_carries_its_examples_and_older_names() -> None:
    @told_by("streamgauge x --rate 1", aliases={"--rps": "--rate"})
    def x() -> None: ...

    assert x.examples == ("streamgauge x --rate 1",)  # type: ignore[attr-defined]
    assert x.aliases == {"--rps": "--rate"}  # type: ignore[attr-defined]
