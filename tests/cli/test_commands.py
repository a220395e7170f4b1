from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from streamgauge.cli.commands import _AFTER, _BEFORE, _command, app
from streamgauge.spec.families import all_families

pytestmark = pytest.mark.process

HEAVY = """
HEAVY = {
    "pyspark", "numpy", "pandas", "pyarrow", "matplotlib", "confluent_kafka", "scipy", "yaml",
    "psutil",
}
"""

SAID_OF_ALL = (
    HEAVY
    + """
import sys
from streamgauge.cli.commands import app
try:
    app(["--help"])
except SystemExit:
    pass
ours = {name for name in sys.modules if name.startswith("streamgauge.families.")}
heavy = sorted(HEAVY & set(sys.modules))
print(heavy, sorted(name for name in ours if name.count(".") > 2 and not name.endswith(".family")))
"""
)

LOADED_BY_EACH = (
    HEAVY
    + """
import contextlib, io, json, sys
from streamgauge.cli.commands import app
found = {}
for call in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        app(call)
    found[" ".join(call)] = bool(said.getvalue()), sorted(HEAVY & set(sys.modules))
print(json.dumps(found))
"""
)


def test_help_names_every_command_and_imports_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAID_OF_ALL], capture_output=True, text=True, timeout=60, check=True
    )
    for family in all_families():
        for name in family.commands:
            assert f" {name} " in done.stdout
    for name in (*_BEFORE, *_AFTER):
        assert f" {name} " in done.stdout
    assert done.stdout.splitlines()[-1] == "[] []"


def test_telling_the_flags_of_a_command_loads_nothing_that_it_needs_to_run() -> None:
    """All in one process: what one of them loads stays. (pydantic is typer's own.)"""
    names = [*_BEFORE, *_AFTER, *(name for family in all_families() for name in family.commands)]
    calls = [["--version"], *([name, "--help"] for name in names), ["cluster", "up", "--help"]]
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_EACH, json.dumps(calls)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout) == {" ".join(call): [True, []] for call in calls}


def test_a_command_that_there_is_not_is_refused() -> None:
    told = CliRunner().invoke(app, ["compere"])
    assert told.exit_code == 2
    assert "No such command 'compere'" in told.output


@pytest.mark.parametrize("name", [*_BEFORE, *_AFTER])
def test_every_command_of_no_family_is_where_it_is_said_to_be(name: str) -> None:
    made = _command(name, "words")
    assert made.name == name


@pytest.mark.parametrize("family", all_families(), ids=lambda family: family.kind)
def test_every_command_of_a_family_can_tell_its_flags(family: object) -> None:
    for name in family.commands:  # type: ignore[attr-defined]
        told = CliRunner().invoke(app, [name, "--help"])
        assert told.exit_code == 0, told.output
        assert "--debug" in told.output
