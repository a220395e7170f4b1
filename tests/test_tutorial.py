"""The tutorial: its commands are there in every run of the tests, and `make proof` executes the page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.commands import _AFTER, _BEFORE, _command, _of_families
from tests.proof import PROOF

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = re.findall(
    r"^```sh\n(.*?)^```$", (DOCS / "tutorial.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)
DEADLINE_S = 1200


def commands(text: str) -> list[list[str]]:
    """Words of each `streamgauge …` line, without where its output goes."""
    without_files = re.sub(r"<<'YAML'\n.*?\nYAML\n", "\n", text, flags=re.DOTALL)
    lines = [line for line in without_files.splitlines() if line.startswith("streamgauge ")]
    return [shlex.split(line.partition(" > ")[0])[1:] for line in lines]


def parsed(command: Any, name: str, words: list[str]) -> None:
    """As the command reads its flags, without doing anything; a flag that there is not raises."""
    inner = getattr(command, "commands", {})
    if words and words[0] in inner:
        parsed(inner[words[0]], words[0], words[1:])
    else:
        command.make_context(name, list(words))


@pytest.mark.parametrize("words", [words for block in BLOCKS for words in commands(block)], ids=" ".join)
def test_every_command_of_the_tutorial_has_these_flags(words: list[str]) -> None:
    if words == ["--version"]:
        return
    name, *rest = words
    assert name in {**_BEFORE, **_AFTER, **_of_families()}
    parsed(_command(name, None), name, rest)


def test_a_flag_that_there_is_not_is_found() -> None:
    with pytest.raises(Exception, match="no-such-flag"):
        parsed(_command("runs", None), "runs", ["--no-such-flag"])


def test_the_tutorial_goes_from_install_to_a_gate() -> None:
    said = [words[0] for block in BLOCKS for words in commands(block)]
    assert said[0] == "--version"
    assert {"run", "e2e", "diff", "check", "cluster"} <= set(said)


@pytest.mark.proof
@pytest.mark.skipif(not PROOF, reason="starts a Kafka and takes minutes: make proof")
@pytest.mark.timeout(DEADLINE_S)
def test_the_tutorial_is_executed_word_by_word(tmp_path: Path) -> None:
    """In an empty folder, block after block in one shell that ends at the first error."""
    state = {"STREAMGAUGE_STATE": str(tmp_path / "state"), "HOME": str(tmp_path)}
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    folder = tmp_path / "empty"
    folder.mkdir()
    script = "set -eu\ntrap 'streamgauge cluster down' EXIT\n" + "\n".join(BLOCKS)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": path, **state},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "gate.xml").is_file()


@pytest.mark.proof
@pytest.mark.skipif(not PROOF, reason="make proof, and make docs")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="a dev dependency")
    root = DOCS.parent
    subprocess.run([sys.executable, "-m", "tools.docs_reference"], cwd=root, check=True, timeout=120)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tutorial.html").is_file()
