"""Finding a run: by its folder, by its name or how that begins, by a tag, or as the latest."""

from __future__ import annotations

import os
import re
from pathlib import Path

from streamgauge.cli.run_names import runs_folder
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.core.run_tags import LATEST, tags_of
from streamgauge.exporting.bundle import Bundle, is_bundle
from streamgauge.flags.options import RUNS_VARIABLE

_BACK = re.compile(rf"{LATEST}(?:~(\d{{1,6}}))?")
_NAMED_AT_MOST = 5


def find_run(text: str, out: str | None = None) -> RunDir:
    """A folder or URL as given; else one below `out`: `latest` (`latest~1`: the one before), a run's name,
    a tag (its newest run), or how just one name begins. A bundle is unpacked there first."""
    folder = out or runs_folder()
    if is_bundle(Path(text)):
        return Bundle(Path(text)).unpack(folder)
    if "/" in text or (Path(text) / RunDir.plan).exists():
        return RunDir.open(text)
    return _named_run(text, folder)


def _named_run(text: str, folder: str) -> RunDir:
    if back := _BACK.fullmatch(text):
        return _latest(folder, int(back[1] or 0))
    if text.strip(".") and (named := RunDir.below(folder, text)).exists():
        return RunDir.open(named.location)
    found = runs_in(folder)
    if tagged := [run for run in found if text in tags_of(run)]:
        return tagged[-1]
    begun = [run for run in found if text and run.id.startswith(text)]
    if len(begun) > 1:
        names = ", ".join(run.id for run in begun[:_NAMED_AT_MOST])
        more = ", …" if len(begun) > _NAMED_AT_MOST else ""
        raise BadInput(
            f"{text}: {len(begun)} runs in {folder} start with this: {names}{more}; give more of the name"
        )
    if begun:
        return begun[0]
    if Path(text).exists():
        return RunDir.open(text)  # which says what it lacks
    raise BadInput(
        f"{text}: no such run folder, and no run of that name, beginning or tag in {folder}; "
        "`streamgauge runs` lists what there is"
    )


def newest_run(out: str) -> RunDir:
    """The one that was begun last: names of runs begin with the time."""
    return _latest(out, 0)


def _latest(folder: str, back: int) -> RunDir:
    found = runs_in(folder)
    if not found:
        told = "" if os.environ.get(RUNS_VARIABLE) else f" or {RUNS_VARIABLE}"
        raise BadInput(f"{folder}: there is no run yet; name a run folder, or its parent with --out{told}")
    if back >= len(found):
        raise BadInput(f"{LATEST}~{back}: there are only {len(found)} runs in {folder}")
    return found[-1 - back]
