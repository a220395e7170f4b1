"""`streamgauge chaos --seed N`: faults at random on three brokers; what breaks is made as small as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE, NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.options import Debug, Master, Out, PrintWorkload, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamgauge.core.findings import Verification
    from streamgauge.spec.workload import Workload

_PARTITIONS = 3


def chaos_command(
    seed: Annotated[int, typer.Option("--seed", help="The same seed makes the same faults.")] = 1,
    lasts: Annotated[str, typer.Option("--for", help="How long messages are sent.")] = "10m",
    rate: Annotated[str, typer.Option("--rate", help="Messages per second.")] = "2k/s",
    size: Annotated[str, typer.Option("--size", help="Size of a message.")] = "200",
    brokers: Annotated[int, typer.Option("--brokers", help="Number of brokers: 3 or 5.")] = 3,
    acks: Annotated[
        str, typer.Option("--acks", help="all: acknowledged messages are kept; 1: they may be lost.")
    ] = "all",
    shrink_runs: Annotated[
        int,
        typer.Option(
            "--shrink-runs", min=0, help="The most runs to spend on finding the fewest faults that break it."
        ),
    ] = 12,
    print_workload: PrintWorkload = False,
    master: Master = None,
    out: Out = "runs",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Kill, pause and restart brokers at random, and verify that nothing acknowledged was lost."""
    from streamgauge.core.errors import BadInput
    from streamgauge.core.units import parse_seconds
    from streamgauge.faults.random_schedule import random_schedule, smallest
    from streamgauge.spec.loading import dump_yaml

    if brokers not in (3, 5):
        raise BadInput(
            f"--brokers {brokers}: with fewer than 3 no majority is left when one is down; allowed: 3, 5"
        )
    seconds = parse_seconds(lasts)
    schedule = random_schedule(seed, seconds, brokers, _PARTITIONS)
    if not schedule:
        raise BadInput(f"--for {lasts}: there is no time for a fault; allowed: from 40s on")

    def workload(faults: Sequence[dict[str, Any]]) -> Workload:
        return chaos_workload(seed, seconds, rate, size, brokers, acks, faults)

    if print_workload:
        typer.echo(dump_yaml(workload(schedule)), nl=False)
        return

    def verified(faults: Sequence[dict[str, Any]]) -> Verification:
        return _run(workload(faults), out=out, master=master, quiet=quiet, debug=debug)

    found = verified(schedule)
    if found.is_good and not found.is_decided:
        typer.echo(f"seed {seed}: {len(schedule)} faults; nothing broken, but {_undecided(found)}", err=True)
        raise typer.Exit(NOT_DECIDABLE_EXIT_CODE)
    if found.is_good:
        typer.echo(f"seed {seed}: {len(schedule)} faults, every promise kept", err=True)
        return
    left = smallest(schedule, lambda faults: not verified(faults).is_good, shrink_runs)
    typer.echo(f"seed {seed}: broken; {len(left)} of {len(schedule)} faults are enough:", err=True)
    typer.echo(dump_yaml(workload(left)), nl=False)
    raise typer.Exit(NOT_OK_EXIT_CODE)


def chaos_workload(
    seed: int, seconds: float, rate: str, size: str, brokers: int, acks: str, faults: Sequence[dict[str, Any]]
) -> Workload:
    """Every promise that Kafka can make is asked for, but for acks that were asked to be fewer."""
    from streamgauge.flags.shipped_targets import shipped_target
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    target = shipped_target(__file__, "chaos")
    idempotent = {"producer_client": {"enable.idempotence": True}} if acks == "all" else {}
    content = {
        "name": f"chaos-{seed}",
        "targets": [{**target, "system": {**target["system"], "brokers": brokers}, **idempotent}],
        "load": {
            "duration": seconds,
            "rate": rate,
            "acks": acks,
            "message": {"size": size},
            "topics": {
                "partitions": _PARTITIONS,
                "replicas": 3,
                "config": {"min.insync.replicas": "2" if acks == "all" else "1"},
            },
            "drain_timeout": 120,
            "faults": list(faults),
        },
    }
    return parse(Workload, content, "chaos")


def _undecided(found: Verification) -> str:
    missing = (one for case in found.cases if not case.is_decided for one in case.not_checked[:1])
    return f"not checked: {'; '.join(missing)}"


def _run(workload: Workload, *, out: str, **how: Any) -> Verification:
    from streamgauge.cli.finding import newest_run
    from streamgauge.cli.running import run_workload
    from streamgauge.core.errors import CorruptRun
    from streamgauge.report.result_tables import read_verification

    if run_workload(workload, out=out, **how) == INTERRUPTED_EXIT_CODE:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    run = newest_run(out)
    found = read_verification(run)
    if found is None:
        raise CorruptRun(f"{run.location}: was not verified")
    return found
