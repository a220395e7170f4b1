"""`streamgauge size`: how many hosts, cores and how much network does a wanted load need?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Acks, wish

if TYPE_CHECKING:
    from streamgauge.sizing.costs import Costs
    from streamgauge.sizing.planning import SizePlan


@told_by(
    "streamgauge size --rate 5M/s --size 1KiB",
    "streamgauge size --rate 200k/s --size 300 --replicas 3 --host-cores 16 --host-network 25G",
    "streamgauge size --clients 1M --scenario 2 --json",
    "streamgauge size --calibrate",
)
def size_command(
    rate: Annotated[
        str | None, wish("Messages per second, all producers together: 5M/s.", metavar="RATE")
    ] = None,
    size: Annotated[str, typer.Option(metavar="BYTES", help="Size of a message: 700, 1KiB.")] = "1KiB",
    acks: Annotated[Acks, typer.Option(help="Who has to confirm a message.")] = Acks.all,
    replicas: Annotated[int, typer.Option(metavar="COUNT", help="Replicas of each partition.", min=1)] = 1,
    clients: Annotated[str | None, wish("Clients of the gateway: 10k, 1M.", metavar="COUNT")] = None,
    scenario: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the scenario that says what clients get.")
    ] = "1",
    host_cores: Annotated[int, typer.Option(metavar="COUNT", help="Cores of a host.", min=1)] = 8,
    host_memory: Annotated[str, typer.Option(metavar="BYTES", help="Memory of a host.")] = "32GiB",
    host_network: Annotated[
        str, typer.Option(metavar="BITS", help="Network speed of a host, each way: 10G, 25Gbit/s.")
    ] = "10G",
    fill: Annotated[float, typer.Option(metavar="SHARE", help="How much of a host may be used: 0.7.")] = 0.7,
    costs: Annotated[
        Path | None,
        wish(
            "A file of measured costs; by default this machine's own if there are any, otherwise ours.",
            metavar="FILE",
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="First measure costs on this machine (about 5 min), and keep them."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Debug = False,
) -> None:
    """Say how many hosts, cores and GB, and how much network, a wanted load needs."""
    from streamgauge.spec.loading import parse

    if rate is None and clients is None and not calibrate:
        raise BadInput("size: say what is wanted: --rate, --clients or both; or --calibrate")
    from streamgauge.sizing.loads import ClientLoad, MessageLoad
    from streamgauge.sizing.planning import Host

    # All of it is looked at before minutes are spent on measuring.
    host = parse(
        Host,
        {
            "cores": host_cores,
            "memory_bytes": host_memory,
            "network_bits_per_s": host_network,
            "fill": fill,
        },
        "size: host",
        whole="",
    )
    wanted = {"rate_per_s": rate, "size_bytes": size, "replicas": replicas}
    messages = None if rate is None else parse(MessageLoad, wanted, "size", whole="")
    following = {"clients": clients, "scenario": scenario}
    followed = None if clients is None else parse(ClientLoad, following, "size", whole="")
    known = _costs(costs, calibrate, debug=debug)
    plans = []
    if messages is not None:
        from streamgauge.sizing.message_plan import plan_messages

        plans.append(plan_messages(messages, acks.value, known, host))
    if followed is not None:
        from streamgauge.sizing.client_plan import plan_clients

        plans.append(plan_clients(followed, known, host))
    _tell(plans, as_json=as_json)


def _costs(file: Path | None, calibrate: bool, *, debug: bool) -> Costs:
    """Of the file; newly measured ones are written there first."""
    from streamgauge.sizing.costs import our_costs, own_costs_file, read_costs, write_costs

    own = file or own_costs_file()
    if calibrate:
        from streamgauge.cli.calibrating import calibrate as measure

        write_costs(measure(debug=debug), own)
        typer.echo(f"costs: {own}", err=True)
    return read_costs(own) if file is not None or own.exists() else our_costs()


def _tell(plans: list[SizePlan], *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps({"plans": [plan.model_dump(mode="json") for plan in plans]}, indent=1))
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    for number, plan in enumerate(plans):
        if number:
            console.print()
        _print(plan, console)


def _print(plan: SizePlan, console: object) -> None:
    from rich.console import Console
    from rich.table import Table

    from streamgauge.sizing.words import HEADS, below, headline, rows

    assert isinstance(console, Console)
    console.print(headline(plan), style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for number, head in enumerate(HEADS):
        table.add_column(head, justify="right" if number else "left")
    for row in rows(plan):
        table.add_row(*row)
    console.print(table)
    for line in below(plan):
        console.print(line, style="dim", soft_wrap=True)
