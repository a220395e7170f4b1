"""`streamgauge run WORKLOAD.yaml`: the one engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.run_flags import that_runs
from streamgauge.core.errors import BadInput

if TYPE_CHECKING:
    from streamgauge.spec.workload import Workload


def _loaded(
    workload: Annotated[
        Path | None,
        typer.Argument(metavar="WORKLOAD.yaml", help="The load wanted, and where.", show_default=False),
    ] = None,
) -> Workload:
    """Run a workload, analyse it, and write the report."""
    from streamgauge.spec.loading import load_workload

    assert workload is not None
    return load_workload(workload)


def _refuse_both(*, workload: Path | None, resume: str | None, **_: Any) -> None:
    if (workload is None) == (resume is None):
        raise BadInput("run: give a workload, or --resume and a run")


run_command = that_runs(_loaded, refuse=_refuse_both)
