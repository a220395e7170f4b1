from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scheduling import SECONDS

pytestmark = pytest.mark.process

TESTS = '''
import pathlib, time
import pytest

def once(name):
    """Fails at its first try only."""
    path = pathlib.Path(__file__).with_name(name)
    is_new = not path.exists()
    path.touch()
    assert not is_new

@pytest.mark.broker
def test_with_a_broker(): once("broker")

@pytest.mark.process
def test_that_hangs_at_first():
    path = pathlib.Path(__file__).with_name("hangs")
    if not path.exists():
        path.touch()
        time.sleep(60)

@pytest.mark.spark
def test_that_is_broken(): assert False

def test_of_a_unit(): once("unit")

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    made = pathlib.Path(__file__).with_name("made")
    made.write_text(made.read_text() + "x" if made.exists() else "x")
    yield made.read_text()
    pathlib.Path(__file__).with_name("ended").write_text(made.read_text())

@pytest.fixture(scope="module")
def made_of_it(shared): return shared * 2

@pytest.mark.broker
def test_of_what_is_shared(made_of_it):
    assert made_of_it == "xxxx", "as it was made the second time"

@pytest.mark.broker
def test_after_it(shared, made_of_it):
    assert (shared, made_of_it) == ("xx", "xxxx")
    assert pathlib.Path(__file__).with_name("ended").read_text() == "x", "the first was ended well"
'''

CONFTEST = """
from tests.scheduling import forget_what_failed, give_second_tries, heaviest_first

def pytest_configure(config):
    for name in ("broker", "spark", "process"):
        config.addinivalue_line("markers", name)

def pytest_collection_modifyitems(items):
    give_second_tries(items)
    heaviest_first(items)

def pytest_runtest_setup(item):
    forget_what_failed(item)
"""


def test_who_needs_processes_gets_a_second_try_which_is_listed(tmp_path: Path) -> None:
    """Side by side and with a deadline, as `make test` has it."""
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-raR", "-p", "no:cacheprovider", "--timeout", "5"),
            *("-n", "1", "--dist", "loadfile", "--no-loadscope-reorder", str(tmp_path)),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line.split(" - ")[0] for line in done.stdout.splitlines()]
    assert {line for line in lines if line.startswith(("RERUN ", "FAILED "))} == {
        "FAILED test_some.py::test_of_a_unit",
        "FAILED test_some.py::test_that_is_broken",
        "RERUN test_some.py::test_that_hangs_at_first",
        "RERUN test_some.py::test_that_is_broken",
        "RERUN test_some.py::test_with_a_broker",
        "RERUN test_some.py::test_of_what_is_shared",
    }


def test_the_files_that_come_first_are_there() -> None:
    here = Path(__file__).parent
    assert [name for name in SECONDS if not (here / name).is_file()] == []
    assert list(SECONDS.values()) == sorted(SECONDS.values(), reverse=True)


def test_a_run_begins_with_the_longest_files(request: pytest.FixtureRequest) -> None:
    seen = [item.nodeid.partition("::")[0].removeprefix("tests/") for item in request.session.items]
    weights = [SECONDS.get(name, 0) for name in seen]
    assert weights == sorted(weights, reverse=True)
    assert len(list(itertools.groupby(seen))) == len(set(seen)), "tests of a file stay together"
