"""Machines by hand: what is written on the command line, and line by line."""

from __future__ import annotations

import io
import sys

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.testing.machines.bed import Machine
from streamgauge.testing.machines.clocks import ClockFault
from streamgauge.testing.machines.shell import machine_of, main
from streamgauge.testing.machines.wire import Link


def test_a_machine_is_described_in_a_word() -> None:
    text = "left:offset=-200,drift=50,delay=5,jitter=1,loss=0.001,bandwidth=125000"
    assert machine_of(text) == ("left", Machine(ClockFault(-200, 50), Link(5, 1, 0.001, 125_000)))
    assert machine_of("right") == ("right", Machine())
    assert machine_of("box-2") == ("box-2", Machine())


@pytest.mark.parametrize("text", ["left:delai=5", "left:delay=much", "left:delay", ":delay=5", "a b", "-2"])
def test_what_is_none_is_said(text: str) -> None:
    with pytest.raises(BadInput, match=r"allowed: offset|no name of a machine"):
        machine_of(text)


@pytest.mark.process
@pytest.mark.usefixtures("machines_are_there")
def test_lines_are_obeyed_until_the_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "cut left",
        "heal left",
        "jump left 5",
        "count left",
        "fly left",
        "cut nobody",
        "cut box-2",
        "heal box-2",
        "off left",
        "end",
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join([*lines, "count right"])))
    assert main(["left:delay=1", "right", "box-2"]) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[0] == "left is 10.231.7.1; right is 10.231.7.2; box-2 is 10.231.7.3"
    assert said[1].startswith("left: ")
    assert "allowed: run, cut, heal" in said[2]
    assert "'nobody' is no machine; there are: left, right, box-2" in said[3]
    assert len(said) == 4
