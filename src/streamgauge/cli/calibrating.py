"""`streamgauge size --calibrate`: loads of many kinds are measured here, and what each took is noted."""

from __future__ import annotations

import datetime
import tempfile
from importlib.metadata import version
from pathlib import Path

import typer

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE
from streamgauge.cli.finding import newest_run
from streamgauge.cli.running import run_workload
from streamgauge.core.environment import describe_machine
from streamgauge.core.errors import CaseFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.sizing import costs as costs_module
from streamgauge.sizing.costs import Costs
from streamgauge.sizing.observing import measured_clients, measured_messages
from streamgauge.spec.loading import load_workload
from streamgauge.spec.workload import Workload

_SHIPPED = Path(costs_module.__file__).parent / "shipped"


def calibration_workloads() -> tuple[Workload, Workload]:
    """Of messages, and of a gateway's clients."""
    messages, clients = (load_workload(_SHIPPED / f"{name}.yaml") for name in ("messages", "clients"))
    return messages, clients


def calibrate(*, debug: bool = False, quiet: bool = False) -> Costs:
    """About five minutes; nothing else should run here meanwhile."""
    of_messages, of_clients = calibration_workloads()
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="streamgauge-calibration-") as folder:
        # In the first load Java compiles: what it took is no cost of messages.
        _, *messages = measured_messages(measured_run(of_messages, folder, debug=debug, quiet=quiet))
        clients = list(measured_clients(measured_run(of_clients, folder, debug=debug, quiet=quiet)))
    return Costs(
        cpu=machine["cpu"],
        cores=machine["cores"],
        measured_on=datetime.datetime.now(datetime.UTC).date().isoformat(),
        version=version("streamgauge"),
        messages=tuple(messages),
        clients=tuple(clients),
    )


def measured_run(workload: Workload, folder: str, *, debug: bool, quiet: bool) -> RunDir:
    """Run it, and say what it was."""
    if not quiet:
        typer.echo(f"measuring {workload.name} ({workload.kind}) …", err=True)
    code = run_workload(workload, out=folder, master=None, quiet=True, debug=debug)
    if code == INTERRUPTED_EXIT_CODE:
        raise typer.Exit(code)
    if code:
        raise CaseFailed(f"{workload.name}: some of its loads broke, so costs would be guesses; try again")
    return newest_run(folder)
