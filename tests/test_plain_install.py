"""`pip install streamgauge`, without any extra: what the tutorial does has to work with that."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
_IMPORTED_AS = {
    "jpype1": "jpype", "kafka-python": "kafka", "nats-py": "nats", "pyzmq": "zmq",
}  # fmt: skip
"""Packages whose modules have other names."""
_WITHOUT = """
import sys
for name in {names!r}:
    sys.modules[name] = None
"""


def of_extras() -> list[str]:
    """Modules that only come with an extra."""
    extras = PROJECT["optional-dependencies"]
    wanted = {each for name, some in extras.items() if name not in ("all", "build", "dev") for each in some}
    names = [each.partition(">")[0].partition("[")[0].strip() for each in wanted]
    return sorted(_IMPORTED_AS.get(name, name) for name in names)


def run(code: str) -> subprocess.CompletedProcess[str]:
    script = _WITHOUT.format(names=of_extras()) + code
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_extras_are_known_by_the_names_of_their_modules() -> None:
    names = of_extras()
    assert {"orjson", "jpype", "zmq", "pytest"} <= set(names)
    for name in names:
        __import__(name)


@pytest.mark.process
def test_the_drivers_of_a_first_run_need_no_extra() -> None:
    done = run("""
from streamgauge.drivers.registry import driver_class
from streamgauge.spec.target import Target
for name in ("kafka_confluent", "simulated"):
    print(driver_class(Target(name="t", driver=name)).name)
from streamgauge.cli import main
from streamgauge.cli.commands import app
for command in ("e2e", "sweep", "transports"):
    sys.argv = ["streamgauge", command, "--print-workload"]
    print(f"{command} ended with {main._carry_out(app, debug=False)}")
""")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["kafka_confluent", "simulated"]
    ended = [line for line in lines if " ended with " in line]
    assert ended == [f"{name} ended with 0" for name in ("e2e", "sweep", "transports")], done.stderr


@pytest.mark.process
def test_what_needs_an_extra_names_it() -> None:
    done = run("""
from types import SimpleNamespace
from streamgauge.core.errors import NotInstalled
from streamgauge.drivers.registry import driver_class
from streamgauge.spec.target import Target
kind = driver_class(Target(name="t", driver="kafka_confluent"))
try:
    kind.swarm(SimpleNamespace(), None, None)
except NotInstalled as error:
    print(error)
""")
    assert "pip install 'streamgauge[gateway]'" in done.stdout, done.stderr
