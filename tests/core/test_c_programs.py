"""What is compiled runs; what the compiler says is told, and that there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from streamgauge.core import c_programs
from streamgauge.core.errors import SystemFailed


@pytest.mark.skipif(c_programs.compiler() is None, reason="there is no C compiler")
def test_what_is_compiled_runs_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    source, made = tmp_path / "seven.c", tmp_path / "seven"
    source.write_text("int main(void) { return 7; }\n")
    c_programs.compile_c(source, made)
    assert subprocess.run([made], check=False).returncode == 7

    source.write_text("int main(void) { return seven; }\n")
    with pytest.raises(SystemFailed, match=r"seven\.c: does not compile: .*seven"):
        c_programs.compile_c(source, made)


def test_without_a_compiler_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert c_programs.compiler() is None
    with pytest.raises(SystemFailed, match=r"seven\.c: there is no C compiler"):
        c_programs.compile_c(tmp_path / "seven.c", tmp_path / "seven")
