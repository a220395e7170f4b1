"""What is compiled, and what is said where it cannot be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from streamgauge.core.c_programs import compiler
from streamgauge.core.errors import SystemFailed
from streamgauge.testing.machines import programs


def test_what_this_machine_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert programs.what_is_missing() == "machines are made by root alone"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(programs, "compiler", lambda: None)
    assert programs.what_is_missing() == "there is no C compiler (cc)"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert programs.what_is_missing() == "machines are Linux namespaces"


@pytest.mark.skipif(compiler() is None, reason="there is no C compiler")
def test_what_the_compiler_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_SOURCES", tmp_path)
    (tmp_path / "machine.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(SystemFailed, match=r"machine\.c: does not compile: .*nothing"):
        programs.compiled(tmp_path)
