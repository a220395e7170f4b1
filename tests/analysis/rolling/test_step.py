"""A run whose events were rolled up says what it says without: with every defect, cut and killed anywhere."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streamgauge.analysis.feeding.event_files import case_row_groups
from streamgauge.analysis.feeding.reading import read_groups
from streamgauge.analysis.rolling.process import Rolling
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.tables.events import PLANNED_ABORT, SENDS
from tests.analysis.recorded import START_NS
from tests.analysis.rolling.rolled_runs import Terms, random_terms, result_rows, rolled_up, written
from tests.analysis.verifying.logs import CLEAN, DEFECTS, MadeLog, Planted, clean_log, transactional_log
from tests.proof import PROOF

ROUNDS = 12 if PROOF else 2


@pytest.mark.proof
@pytest.mark.parametrize(
    ("clean", "defect"),
    [*((clean, None) for clean in CLEAN), *((clean_log, defect) for defect in DEFECTS)],
    ids=lambda made: getattr(made, "__name__", "none"),
)
def test_what_was_rolled_up_is_found_and_counted_as_if_it_had_not_been(
    clean: Callable[[str, int], MadeLog], defect: Callable[[MadeLog], Planted] | None, tmp_path: Path
) -> None:
    random = Random(f"{defect}")
    made = [clean(f"{seed}", 3000 + seed) for seed in range(ROUNDS)]
    if defect is not None:
        for log in made:
            defect(log)
    whole = written(tmp_path, [log.events() for log in made])
    copy = RunDir(f"{whole.run.location}-rolled")
    shutil.copytree(whole.run.location, copy.location)

    parts = []
    for share in (0.3, 0.6, 0.8):
        longest = max(send["intended_ns"] for log in made for send in log.sends) - START_NS
        parts += rolled_up(copy, START_NS + int(longest * share), random_terms(random))
    whole.analyze()
    whole.run = copy
    whole.analyze()

    raw = RunDir(copy.location.removesuffix("-rolled"))
    wanted, found = result_rows(raw), result_rows(copy)
    assert {name: rows for name, rows in found.items() if rows != wanted[name]} == {}
    assert sum(part.messages for part in parts) > 0


def test_what_was_aborted_as_planned_is_rolled_up_like_all_that_is_well(tmp_path: Path) -> None:
    made = transactional_log("one", 5)
    run = written(tmp_path, [made.events()]).run

    rolled_up(run, START_NS + 10**12, Terms(60, 100_000))

    # The last files of each producer are not looked at.
    old, left = (
        {(row["producer"], row["sequence"]) for row in rows if is_old_abort(row)}
        for rows in (made.sends, sends_left(run))
    )
    assert len(old) > 50
    assert left == set()


def is_old_abort(send: dict[str, Any]) -> bool:
    return bool(send["error"] == PLANNED_ABORT and send["sequence"] < 100)


def sends_left(run: RunDir) -> list[dict[str, Any]]:
    groups = list(case_row_groups(run, "001", SENDS))
    rows: list[dict[str, Any]] = read_groups(run, SENDS, groups, SENDS.column_names).to_pylist()
    return rows


MOMENTS = range(0, 75, 2) if PROOF else (3, 13, 22, 25, 27)
"""How many things were done to files before; a roll-up of this run takes 20 to 30."""


@pytest.mark.process
@pytest.mark.proof
@pytest.mark.parametrize("things", MOMENTS)
def test_whoever_is_killed_in_a_roll_up_neither_loses_nor_doubles_anything(
    things: int, tmp_path: Path
) -> None:
    whole = written(tmp_path, [clean_log("one", 5).events()])
    copy = RunDir(f"{whole.run.location}-rolled")
    shutil.copytree(whole.run.location, copy.location)
    until_ns = START_NS + 10**12

    killed = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.analysis.rolling.killed_roll_up",
            copy.location,
            f"{until_ns}",
            f"{things}",
        ],
        timeout=60,
        check=False,
    )

    assert killed.returncode in (0, -signal.SIGKILL)
    whole.analyze()
    wanted, whole.run = result_rows(whole.run), copy
    whole.analyze()
    assert result_rows(copy) == wanted
    # And it goes on from there.
    Rolling(copy, "001")
    rolled_up(copy, until_ns, Terms(60, 100_000))
    whole.analyze()
    assert result_rows(copy) == wanted
    assert last_roll_up(copy, "001") is not None
