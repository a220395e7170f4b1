"""`streamgauge size` held to its word: costs are measured here, six loads that it has not seen are predicted,
and then measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from streamgauge.cli.calibrating import calibrate, measured_run
from streamgauge.sizing import costs as costs_module
from streamgauge.sizing.client_plan import clients_need
from streamgauge.sizing.costs import Costs, MeasuredClients, MeasuredMessages, read_costs, write_costs
from streamgauge.sizing.fitting import Estimate
from streamgauge.sizing.message_plan import needed
from streamgauge.sizing.observing import measured_clients, measured_messages
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

GOAL = 0.25
_MESSAGES = (("30k/s", 500), ("8k/s", 2000), ("60k/s", 150), ("3k/s", 4000))
_CLIENTS = (("1", 3500), ("3", 7000))
_SHIPPED = Path(costs_module.__file__).parent / "shipped"


def sizes(folder: Path, costs_file: Path | None = None) -> None:
    """`costs_file`: where costs are kept, and taken from if they are there already."""
    if costs_file is not None and costs_file.exists():
        costs = read_costs(costs_file)
    else:
        costs = calibrate()
        if costs_file is not None:
            write_costs(costs, costs_file)
    worst: dict[str, float] = {}
    for name, predicted, measured in _checked(folder, costs):
        off = predicted.value / measured - 1
        quantity = name.rpartition(" ")[2]
        worst[quantity] = max(abs(off), worst.get(quantity, 0.0))
        is_in = predicted.low <= measured <= predicted.high
        words = f"{predicted.value:.4g} ({predicted.low:.4g}–{predicted.high:.4g})"
        print(
            f"{name:<52} {words:<36} measured {measured:.4g}: {off:+.0%}{'' if is_in else ' !'}", flush=True
        )
    for quantity, off in worst.items():
        print(
            f"size, {quantity:<28} {off:6.0%} off at the most of 6 unseen loads (goal ≤ {GOAL:.0%})",
            flush=True,
        )


def _checked(folder: Path, costs: Costs) -> Iterator[tuple[str, Estimate, float]]:
    """Every quantity of every load: what was predicted of it, and what it was."""
    for one in _measured_messages(folder):
        name = f"{one.load.rate_per_s:,.0f}/s of {one.load.size_bytes} B"
        # Each role by itself: of a sum one may be too much by what the other is too little.
        for quantity, measured in one.took.items():
            yield f"{name} {quantity}", needed(one.load, costs, quantity), measured
    for two in _measured_clients(folder):
        name = f"{two.load.clients:,} clients of scenario {two.load.scenario}"
        for quantity, measured in two.took.items():
            yield f"{name} {quantity}", clients_need(two.load, costs, quantity), measured


def _measured_messages(folder: Path) -> list[MeasuredMessages]:
    content = _shipped("messages")
    # As in a calibration, in the first load Java compiles, and it is not counted.
    unseen = [{"rate": rate, "message.size": size} for rate, size in _MESSAGES]
    content["cases"] = [content["cases"][0], *unseen]
    _, *measured = measured_messages(_run(content, folder))
    return measured


def _measured_clients(folder: Path) -> Iterator[MeasuredClients]:
    for scenario, clients in _CLIENTS:
        content = _shipped("clients")
        content["fanout"] |= {"scenarios": [scenario], "clients": [clients]}
        yield from measured_clients(_run(content, folder))


def _shipped(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((_SHIPPED / f"{name}.yaml").read_text())
    return content


def _run(content: dict[str, Any], folder: Path) -> Any:
    workload = parse(Workload, {**content, "name": "unseen"}, "bench")
    return measured_run(workload, tempfile.mkdtemp(dir=folder), debug=False, quiet=False)
