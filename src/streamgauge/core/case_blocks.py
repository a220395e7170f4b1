"""What a run notes case by case: the first hundred in a file, further ones in files of a hundred each.

In one file every case would write down all cases before it: of ten thousand, the last ones took a second
each for that alone. Most runs have fewer than a hundred, and one file.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir

CASES_A_BLOCK = 100


def write_block(run: RunDir, name: str, number: int, content: Mapping[str, Any]) -> None:
    run.write_json(run.case_block(name, number), content)


def read_blocks(run: RunDir, name: str, most: int | None = None) -> dict[str, Any]:
    """By case, of the first `most` blocks; what was noted last counts."""
    found: dict[str, Any] = {}
    for file in islice(run.list_files(run.case_blocks(name), ".json"), most):
        found |= _read(run, file)
    return found


def read_by_case(run: RunDir, file: str) -> dict[str, Any]:
    """All of it; `file` holds the first ones."""
    return _read(run, file) | read_blocks(run, _name(file))


def note_case(run: RunDir, file: str, case: str, content: Any) -> None:
    """In the last file that there is, or in a new one when that is full."""
    blocks = list(run.list_files(run.case_blocks(_name(file)), ".json"))
    newest = blocks[-1] if blocks else file
    known = _read(run, newest)
    if case not in known and len(known) >= CASES_A_BLOCK:
        write_block(run, _name(file), len(blocks), {case: content})
    else:
        run.write_json(newest, {**known, case: content})


def _read(run: RunDir, file: str) -> dict[str, Any]:
    """Empty when there is no such file."""
    found = run.read_json(file) if run.has(file) else {}
    if not isinstance(found, dict):
        raise CorruptRun(f"{run.url(file)}: what was noted by case is a {type(found).__name__} there")
    return found


def _name(file: str) -> str:
    return file.removesuffix(".json")
