"""The tutorial: its commands are there in every run of the tests, and `make proof` executes the page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.commands import _AFTER, _BEFORE, _command, _of_families
from tests.proof import PROOF

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = _BLOCK.findall(PAGE)
DEADLINE_S = 1800

NO_VERDICT = (
    r"(?is)\A(?!.*\b(?:faster|slower)\s+[\d–])"
    r"(?=.*(?:no difference seen\s+\d|not comparable\s+\d.*: (?:base|new): do not quote))"
)
"""No row is called different; what is not comparable is of a run that may not be quoted, as the page says."""
SEEN = [
    ("Integrity* says whether every message is accounted for: here it is `all accounted for`",
     r"(?i)integrity\s+all accounted for"),
    ("whether the figures may be quoted: here it is `valid`", r"(?i)validity\s+valid"),
    ("The last line names the report", r"report/index\.html\s*\Z"),
    ("The table has one row, with the tag `first`", r"(?m)^\S+-first-\w+ +ok\b.*\bfirst\s*$"),
    ("The median latency is close to the 2 ms", r"p50\W+[12]\.\d"),
    ("20,000 are sent and 20,000 received", r"(?s)20,000.*20,000"),
    ("every verdict is `no difference seen`", NO_VERDICT),
    ("The answer is `pass`", r"(?i)check\s+pass"),
]  # fmt: skip
"""What the page says that one sees, and what there has to be in what the block before it printed."""


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


def flat(text: str) -> str:
    return " ".join(text.split())


def block_before(sentence: str) -> int:
    """Which block one looks at the output of when one reads that sentence."""
    for number, part in enumerate(_BLOCK.split(PAGE)[2::2]):
        if flat(sentence) in flat(part):
            return number
    raise AssertionError(f"not on the page, behind a block: {sentence}")


def test_what_is_looked_for_is_on_the_page() -> None:
    assert [block_before(sentence) for sentence, _ in SEEN] == [2, 2, 2, 3, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("rows", "is_seen"),
    [
        ("p50  NO DIFFERENCE SEEN  0.998  1.005", True),
        ("p50  NOT COMPARABLE  0.998  1.005\n • the only case: new: do not quote", True),
        ("p50  NOT COMPARABLE  0.998  1.005\n • one run of each side does not show how certain it is", False),
        ("p50  NO DIFFERENCE SEEN  0.998  1.005\np90  SLOWER  1.46  2.5", False),
        ("nothing of the kind", False),
    ],
)
def test_not_comparable_is_accepted_of_runs_that_may_not_be_quoted_alone(rows: str, is_seen: bool) -> None:
    assert (re.search(NO_VERDICT, rows) is not None) is is_seen


@pytest.mark.proof
@pytest.mark.skipif(not PROOF, reason="installs everything, starts a Kafka and takes minutes: make proof")
@pytest.mark.timeout(DEADLINE_S)
def test_the_tutorial_is_executed_word_by_word_on_a_fresh_clone(tmp_path: Path) -> None:
    """Block after block in one shell, which ends at the first error; then what each of them printed."""
    clone, state = tmp_path / "clone", tmp_path / "state"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, timeout=120)
    mark = "==== the next block ===="
    script = f"\necho '{mark}'\n".join(BLOCKS)
    # Nothing of the environment that the tests run in: what is missing has to be installed or fetched.
    own = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "STREAMGAUGE_", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    without_ours = [
        each for each in os.environ["PATH"].split(":") if each != str(Path(sys.executable).parent)
    ]
    environment |= {
        "PATH": ":".join(without_ours),
        "STREAMGAUGE_STATE": str(state),
        "STREAMGAUGE_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "160",
    }
    done = subprocess.run(
        ["bash", "-c", f"set -eu\ntrap 'streamgauge cluster down' EXIT\n{script}"],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    printed = [each.strip() for each in done.stdout.split(mark)]
    assert len(printed) == len(BLOCKS)
    for sentence, pattern in SEEN:
        assert re.search(pattern, printed[block_before(sentence)]), (sentence, done.stdout)
    for name in ("gate.xml", "gate.md"):
        assert (clone / "tutorial" / name).is_file()


@pytest.mark.proof
@pytest.mark.skipif(not PROOF, reason="make proof, and make docs")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="a dev dependency")
    subprocess.run([sys.executable, "-m", "tools.docs_reference"], cwd=ROOT, check=True, timeout=120)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tutorial.html").is_file()
