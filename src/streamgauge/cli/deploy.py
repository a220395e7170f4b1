"""`streamgauge deploy`: a run written down for a cluster that somebody else's tool starts."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from importlib.metadata import version
from typing import Annotated

import typer

from streamgauge.core.errors import BadInput
from streamgauge.core.units import counted
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import wish

deploy_app = typer.Typer(help="Write manifests for running streamgauge on a cluster.", no_args_is_help=True)

_SAID_HERE = ("--out", "--master", "--resume", "--print-workload")
_AS_IT_IS = {"ignore_unknown_options": True, "allow_interspersed_args": False}

Command = Annotated[
    list[str],
    typer.Argument(metavar="COMMAND…", help="A streamgauge command that starts a run.", show_default=False),
]


@deploy_app.callback()
def deploy() -> None:
    "Write manifests for running streamgauge on a cluster."
    # Without it typer takes the only command for the whole of them.


@deploy_app.command(context_settings=_AS_IT_IS)
@told_by("streamgauge deploy kubernetes --image registry/streamgauge run workload.yaml")
def kubernetes(
    command: Command,
    image: Annotated[
        str,
        typer.Option(
            metavar="IMAGE", help="Image with streamgauge, made with deploy/Dockerfile.", show_default=False
        ),
    ],
    namespace: Annotated[str, typer.Option(metavar="NAME", help="Namespace for all of it.")] = "streamgauge",
    name: Annotated[str | None, wish("Name of the Job; by default the workload's.", metavar="NAME")] = None,
    out: Annotated[
        str | None,
        wish("URL of an object store for the run folder; by default a volume is claimed.", metavar="URL"),
    ] = None,
    storage: Annotated[str, typer.Option(metavar="SIZE", help="Size of that volume.")] = "20Gi",
    secret: Annotated[
        list[str] | None,
        wish("A variable of launcher and agents, from a secret. Repeatable.", metavar="VARIABLE=SECRET:KEY"),
    ] = None,
    launcher_cores: Annotated[str, typer.Option(metavar="CORES", help="Cores of the launcher.")] = "2",
    launcher_memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory of the launcher.")] = "4Gi",
    agent_memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory of an agent, in addition to Java's.")
    ] = "2Gi",
) -> None:
    """Print the Kubernetes manifests of a run; pipe them to `kubectl apply -f -`."""
    import yaml

    from streamgauge.deploying.kubernetes import (
        OUT_OF_A_CLAIM,
        KubernetesRun,
        SecretVariable,
        as_yaml,
        manifests,
    )
    from streamgauge.plan.plan_file import make_plan
    from streamgauge.plan.slots import agents_of
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    text = _understood(command)
    workload = parse(Workload, yaml.safe_load(text), "deploy: the workload")
    run = KubernetesRun(
        name=name or f"streamgauge-{workload.name}".lower().replace("_", "-").replace(".", "-"),
        workload=text,
        image=image,
        namespace=namespace,
        out=out or OUT_OF_A_CLAIM,
        storage=storage,
        secrets=tuple(SecretVariable.parse(one) for one in secret or ()),
        launcher_cores=launcher_cores,
        launcher_memory=launcher_memory,
        agent_memory=agent_memory,
    )
    agents = len(agents_of(make_plan(workload, "deploy").cases))
    typer.echo(
        f"# streamgauge {version('streamgauge')} {' '.join(command)}\n"
        f"# {counted(agents, 'agent')}: as many pods of 1 core beside the launcher's {launcher_cores}."
    )
    typer.echo(as_yaml(manifests(run)), nl=False)


def _understood(command: list[str]) -> str:
    """The workload that a command would run, as YAML."""
    from streamgauge.cli.commands import app

    if taken := [word for word in command if word.partition("=")[0] in _SAID_HERE]:
        raise BadInput(f"deploy: {taken[0]} is not for the command: deploy itself says where a run goes")
    said = io.StringIO()
    with redirect_stdout(said):
        code = typer.main.get_command(app).main([*command, "--print-workload"], standalone_mode=False)
    if code:
        raise BadInput(f"deploy: streamgauge {' '.join(command)}: ended with {code}")
    return said.getvalue()
