"""`streamgauge doctor`: can this machine measure, and how small a difference can be seen on it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import Debug, Out
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from rich.text import Text

    from streamgauge.cli.health_checks import Finding
    from streamgauge.cli.machine_noise import Noise
    from streamgauge.cli.runs_noise import RunsNoise

_NOISY_PERCENT = 5.0
_ROUNDS = 40
_INDENT = 16


@told_by("streamgauge doctor", "streamgauge doctor --json | jq .noise.detectable_percent")
def doctor_command(
    rounds: Annotated[
        int,
        typer.Option(metavar="COUNT", help="Rounds of the noise test, about 10 ms each; 0: skip it.", min=0),
    ] = _ROUNDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Check whether this machine can measure. Exit code 1: something must be fixed first."""
    from streamgauge.cli.health_checks import Finding, Health, findings
    from streamgauge.cli.machine_noise import machine_noise
    from streamgauge.cli.runs_noise import runs_noise

    found: list[Finding] = []
    for finding in findings(out):
        found.append(finding)
        if not as_json:
            _print(finding)
    runs = runs_noise(out)
    found.append(Finding("runs", Health.GOOD, runs.words))
    if not as_json:
        _print(found[-1])
    noise = machine_noise(rounds) if rounds > 1 else None
    if noise is not None:
        found.append(noise_finding(noise))
        if not as_json:
            _print(found[-1])
    if as_json:
        typer.echo(_json(found, noise, runs))
    raise typer.Exit(1 if any(finding.health is Health.BAD for finding in found) else 0)


def noise_finding(noise: Noise) -> Finding:
    from streamgauge.cli.health_checks import Finding, Health

    text = (
        f"differences below {noise.detectable_percent:.1f}% cannot be seen here, not even between pieces of "
        f"work of {noise.median_ms:.0f} ms in one process: the same, {noise.rounds} times against itself, "
        f"was {noise.spread_percent:.1f}% apart. Whole runs are apart by more: see runs"
    )
    if noise.detectable_percent <= _NOISY_PERCENT:
        return Finding("noise", Health.GOOD, text)
    advice = "stop what else runs here, fix the governor, or repeat more often"
    return Finding("noise", Health.DOUBTFUL, text, advice)


def _json(found: list[Finding], noise: Noise | None, runs: RunsNoise) -> str:
    import json
    from dataclasses import asdict

    content: dict[str, Any] = {
        "findings": [asdict(finding) for finding in found],
        "noise": None if noise is None else asdict(noise),
        "runs": asdict(runs),
    }
    return json.dumps(content, indent=1)


def _print(finding: Finding) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines_of(finding):
        console.print(line, soft_wrap=True)


def lines_of(finding: Finding) -> Iterator[Text]:
    """A mark, what was looked at, and what was found, in columns."""
    from rich.text import Text

    from streamgauge.cli.health_checks import Health
    from streamgauge.cli.help_pages import wrapped

    marks = {Health.GOOD: ("ok", "green"), Health.DOUBTFUL: ("?", "yellow"), Health.BAD: ("no", "bold red")}
    mark, style = marks[finding.health]
    first, *rest = [line.strip() for line in wrapped(finding.text, _INDENT)]
    yield Text.assemble((f"{mark:<3}", style), (f"{finding.check:<{_INDENT - 3}}", "bold"), first)
    yield from (Text(" " * _INDENT + line) for line in rest)
    if finding.advice:
        yield from (
            Text(line, "dim") for line in wrapped(f"→ {finding.advice}", _INDENT, hanging=_INDENT + 2)
        )
