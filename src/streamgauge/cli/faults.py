"""`streamgauge faults`: what can be done to a system while it is measured."""

from __future__ import annotations

from typing import Annotated

import typer

from streamgauge.flags.groups import told_by


@told_by("streamgauge faults", "streamgauge faults --json")
def faults_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the faults that a workload may have on its timeline (load.faults), and what each needs."""
    import json

    from rich.console import Console

    from streamgauge.faults.contract import Ending
    from streamgauge.spec.fault import fault_class, fault_kinds

    found = {kind: fault_class(kind) for kind in fault_kinds()}
    if as_json:
        listed = [
            {
                "kind": kind,
                "does": fault.words,
                "needs": fault.needs,
                "schema": fault.spec_model.model_json_schema(),
            }
            for kind, fault in found.items()
        ]
        typer.echo(json.dumps(listed, indent=1))
        return
    console = Console()
    for kind, fault in found.items():
        own = [name for name in fault.spec_model.model_fields if name not in ("kind", "at", "for_")]
        fields = ", ".join(["at", *([] if fault.ending is Ending.NEVER else ["for"]), *own])
        console.print(f"[bold]{kind}[/bold]  {fault.words}", highlight=False)
        console.print(f"  needs {fault.needs}\n  fields: {fields}", markup=False, highlight=False)
