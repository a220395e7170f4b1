"""Runs that are started from here, with a program in the place of `streamgauge` that does as it does."""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.serve import child_runs
from streamgauge.serve.child_runs import ChildRun, ChildRuns
from streamgauge.serve.requests import Refused

from .live_run import NAME, LiveRun

PROGRAM = """
import signal, sys, time
print("given", sys.argv[1:], flush=True)
print("run {name}", file=sys.stderr, flush=True)
if {stubborn}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("deaf", flush=True)
if {waits}:
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        print("interrupted; what was recorded is kept", flush=True)
        sys.exit(130)
"""


def program(folder: Path, *, waits: bool = True, stubborn: bool = False) -> tuple[str, str]:
    file = folder / "program.py"
    file.write_text(PROGRAM.format(name=NAME, waits=waits, stubborn=stubborn))
    return sys.executable, str(file)


async def said(child: ChildRun, words: str) -> None:
    async with asyncio.timeout(60):
        while words not in child.output():
            await asyncio.sleep(0.02)


async def ended(child: ChildRun) -> None:
    assert child.ended is not None
    async with asyncio.timeout(60):
        await asyncio.shield(child.ended)


def test_it_is_run_with_its_file_and_its_output_is_kept_with_the_run(tmp_path: Path) -> None:
    run = LiveRun(tmp_path / "runs").run

    async def go() -> ChildRun:
        children = ChildRuns(
            str(tmp_path / "runs"), tmp_path / "started", command=program(tmp_path, waits=False)
        )
        child = await children.start("kind: e2e\n", ["nightly"])
        await ended(child)
        assert children.of_run(NAME) is child
        return child

    child = asyncio.run(go())
    assert (child.state, child.run_name()) == ("done", NAME)
    file = tmp_path / "started" / "1" / "workload.yaml"
    assert file.read_text() == "kind: e2e\n"
    assert file.stat().st_mode & 0o077 == 0
    given = f"['run', '{file}', '--out', '{tmp_path / 'runs'}', '--live', 'off', '--tag', 'nightly']"
    assert given in child.output()
    assert RunDir(run.location).read_text(run.log("output")) == child.output()


def test_to_stop_it_is_ctrl_c_to_it_alone(tmp_path: Path) -> None:
    async def go() -> ChildRun:
        children = ChildRuns(str(tmp_path), tmp_path / "started", command=program(tmp_path))
        child = await children.start("kind: e2e\n")
        await said(child, "run ")
        assert child.state == "running"
        with pytest.raises(Refused) as refused:
            await children.start("kind: e2e\n")
        assert refused.value.status is HTTPStatus.CONFLICT
        children.stop(child)
        assert child.state == "stopping"
        await ended(child)
        return child

    child = asyncio.run(go())
    assert child.state == "stopped"
    assert "what was recorded is kept" in child.output()


def test_what_hears_nothing_is_ended_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tuple((number, 0.2 if number != 9 else 30.0) for number, _ in child_runs._PATIENCE_S)
    monkeypatch.setattr(child_runs, "_PATIENCE_S", short)

    async def go() -> int:
        children = ChildRuns(str(tmp_path), tmp_path / "started", command=program(tmp_path, stubborn=True))
        child = await children.start("kind: e2e\n")
        await said(child, "deaf")
        await children.close()
        with pytest.raises(Refused):
            await children.start("kind: e2e\n")
        return child.process.pid

    assert not psutil.pid_exists(asyncio.run(go()))


def test_a_tag_cannot_become_a_flag(tmp_path: Path) -> None:
    async def go() -> None:
        children = ChildRuns(str(tmp_path), tmp_path / "started", command=program(tmp_path))
        for tag in ("--out=/etc", "-d", "$(touch owned)", "a;b", "`id`"):
            with pytest.raises(BadInput):
                await children.start("kind: e2e\n", [tag])
        assert children.all() == []

    asyncio.run(go())
    assert not (tmp_path / "started").exists()


def test_numbers_that_are_none_find_nothing(tmp_path: Path) -> None:
    children = ChildRuns(str(tmp_path), tmp_path)
    assert [children.find(number) for number in ("1", "x", "-1", "१", "")] == [None] * 5
