"""Names of runs, for a shell that completes them: plain files alone, since it waits at every Tab.

A folder behind a URL is not looked into: that may start a Java first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import typer

from streamgauge.flags.options import RUNS_VARIABLE

_USUAL = "runs"


def runs_folder() -> str:
    return os.environ.get(RUNS_VARIABLE) or _USUAL


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """What a run may be called: `latest`, tags, names; the newest first."""
    folder = _asked_folder(ctx)
    if "://" in folder or "/" in incomplete:
        return []
    return [name for name in dict.fromkeys(_names(Path(folder))) if name.startswith(incomplete)]


def _asked_folder(ctx: typer.Context) -> str:
    """Of the `--out` that was typed before, of this command or the one above it."""
    for each in (ctx, ctx.parent):
        source = None if each is None else each.get_parameter_source("out")
        if each is not None and source is not None and source.name == "COMMANDLINE":
            return str(each.params["out"])
    return runs_folder()


def _names(folder: Path) -> Iterator[str]:
    try:
        runs = sorted((path for path in folder.iterdir() if (path / "plan.json").is_file()), reverse=True)
    except OSError:
        return
    if runs:
        yield "latest"
    for run in runs:
        yield from _tags(run / "tags.json")
    yield from (run.name for run in runs)


def _tags(file: Path) -> list[str]:
    try:
        tags = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
