"""`streamgauge chaos --seed N`: faults at random on three brokers; what breaks is made as small as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE, NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.options import Debug, Master, Out, PrintWorkload, Quiet, Tags
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import count_option, size_option, time_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamgauge.cli.chaos_trials import Trial
    from streamgauge.spec.workload import Workload

    Planned = dict[str, Any]

_PARTITIONS = 3


@told_by(
    "streamgauge chaos --seed 7 --duration 10m",
    "streamgauge chaos --seed 7 --acks 1 --rate 5k/s --tag weak",
    "streamgauge chaos --seed 7 --print-workload",
    aliases={"--for": "--duration"},
)
def chaos_command(
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", help="The same seed makes the same faults.")
    ] = 1,
    duration: Annotated[str, time_option("How long messages are sent: 90s, 10m.")] = "10m",
    rate: Annotated[
        str, typer.Option("--rate", metavar="RATE", help="Messages per second: 1000, 2k/s.")
    ] = "2k/s",
    size: Annotated[str, size_option("200")] = "200",
    brokers: Annotated[int, typer.Option("--brokers", metavar="3|5", help="Number of brokers.")] = 3,
    acks: Annotated[
        str,
        typer.Option(
            "--acks", metavar="1|all", help="all: acknowledged messages are kept; 1: they may be lost."
        ),
    ] = "all",
    kinds: Annotated[
        str | None,
        typer.Option(
            "--kinds",
            metavar="KIND,…",
            help="Kinds of faults to draw from, with commas between; all by default.",
        ),
    ] = None,
    shrink_runs: Annotated[
        int, count_option("The most runs to spend on finding the fewest faults that break it.", min=0)
    ] = 12,
    print_workload: PrintWorkload = False,
    master: Master = None,
    out: Out = "runs",
    tag: Tags = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Disturb brokers, links and disks at random, and verify that nothing acknowledged was lost."""
    from streamgauge.cli.chaos_trials import Promises
    from streamgauge.core.errors import BadInput
    from streamgauge.core.units import parse_seconds
    from streamgauge.faults.random_schedule import DRAW, KINDS, random_schedule
    from streamgauge.spec.loading import dump_yaml

    if brokers not in (3, 5):
        raise BadInput(
            f"--brokers {brokers}: with fewer than 3 no majority is left when one is down; allowed: 3, 5"
        )

    chosen = KINDS if kinds is None else tuple(kind.strip() for kind in kinds.split(","))
    if unknown := [kind for kind in chosen if kind not in KINDS]:
        raise BadInput(f"--kinds {', '.join(unknown)}: allowed: {', '.join(KINDS)}")
    seconds = parse_seconds(duration)
    schedule = random_schedule(seed, seconds, brokers, _PARTITIONS, chosen)
    if not schedule:
        raise BadInput(f"--duration {duration}: there is no time for a fault; allowed: from 40s on")

    def workload(faults: Sequence[Planned]) -> Workload:
        return chaos_workload(seed, seconds, rate, size, brokers, acks, faults)

    if print_workload:
        typer.echo(dump_yaml(workload(schedule)), nl=False)
        return

    def tried(faults: Sequence[Planned]) -> Trial:
        return _run(workload(faults), out=out, master=master, quiet=quiet, debug=debug, tags=tag or [])

    of_seed = f"seed {seed} (draw {DRAW})"
    first = tried(schedule)
    if first.promises is Promises.KEPT:
        typer.echo(f"{of_seed}: {len(schedule)} faults, every promise kept", err=True)
        return
    typer.echo(f"{of_seed}: {first.promises.replace('_', ' ')} in run {first.run.id}:", err=True)
    for why in first.why:
        typer.echo(f"  {why}", err=True)
    if first.promises is Promises.NOT_DECIDABLE:
        raise typer.Exit(NOT_DECIDABLE_EXIT_CODE)
    _shrink(schedule, first, tried, shrink_runs, lambda faults: dump_yaml(workload(faults)))
    raise typer.Exit(NOT_OK_EXIT_CODE)


def _shrink(
    schedule: list[Planned],
    first: Trial,
    tried: Callable[[Sequence[Planned]], Trial],
    most: int,
    words: Callable[[Sequence[Planned]], str],
) -> None:
    """Tells the fewest faults that are known to be enough, whatever comes between.

    Whom a fault hits is not pinned to whom it hit first: who leads is drawn anew with every cluster, and
    `leader` finds them. So a schedule may break by chance, and the last one is run once more.
    """
    from streamgauge.core.errors import StreamgaugeError
    from streamgauge.faults.random_schedule import smallest

    left: Sequence[Planned] = schedule

    def breaks(faults: Sequence[Planned]) -> bool:
        nonlocal left
        is_broken = tried(faults).breaks_like(first)
        left = faults if is_broken else left
        return is_broken

    try:
        # One run for none at all, one for what is left in the end.
        if most > 0 and not breaks([]):
            smallest(schedule, breaks, most - 2)
        if most > 1:
            once_more = (
                "broke again" if tried(left).breaks_like(first) else "did not break: chance has a part"
            )
            typer.echo(f"run once more, what is left {once_more}", err=True)
    except StreamgaugeError as error:
        typer.echo(f"no more was left out, because a run could not be made: {error}", err=True)
    finally:
        enough = (
            f"{len(left)} of {len(schedule)} faults are enough" if left else "it breaks without any fault"
        )
        typer.echo(f"{enough}:", err=True)
        typer.echo(words(left), nl=False)


def chaos_workload(
    seed: int, seconds: float, rate: str, size: str, brokers: int, acks: str, faults: Sequence[Planned]
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


def _run(workload: Workload, *, out: str, **how: Any) -> Trial:
    from streamgauge.cli.chaos_trials import trial_of
    from streamgauge.cli.running import try_workload
    from streamgauge.core.errors import CorruptRun

    ran = try_workload(workload, out=out, **how)
    if ran.exit_code == INTERRUPTED_EXIT_CODE:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    found = trial_of(ran.run)
    if found is None:
        raise ran.error or CorruptRun(f"{ran.run.location}: it says nothing of its case")
    return found
