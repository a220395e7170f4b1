"""`streamgauge run WORKLOAD.yaml`: the one engine. Also for bundles, and for workloads of OMB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.run_flags import that_runs
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked


@told_by(
    "streamgauge run workload.yaml --tag nightly",
    "streamgauge run a-colleagues-bundle.zip",
    "streamgauge run --resume latest",
)
def _loaded(
    workload: Annotated[
        Path | None,
        typer.Argument(
            metavar="WORKLOAD.yaml",
            help="A workload: what to send, and where. Or a bundle, or a workload of the "
            "OpenMessaging Benchmark.",
            show_default=False,
        ),
    ] = None,
    omb_driver: Annotated[
        Path | None,
        typer.Option(
            "--omb-driver",
            metavar="FILE",
            help="Driver file for a workload of the OpenMessaging Benchmark; by default an "
            "embedded Kafka is used.",
            show_default=False,
        ),
    ] = None,
) -> Asked:
    """Run a workload, analyse it, and write the report."""
    from streamgauge.exporting.bundle import is_bundle
    from streamgauge.flags.asked import Asked
    from streamgauge.importing.omb_workload import is_omb_workload
    from streamgauge.spec.loading import read_mapping, workload_in

    assert workload is not None
    if is_bundle(workload):
        return _bundled(workload)
    content = read_mapping(workload)
    if is_omb_workload(content):
        return _of_omb(content, workload, omb_driver)
    if omb_driver is not None:
        raise BadInput(f"--omb-driver: {workload} is no workload of the OpenMessaging Benchmark")
    return Asked(workload_in(content, workload))


def _bundled(file: Path) -> Asked:
    """The same workload; what else is not the same is shown by diff."""
    import yaml

    from streamgauge.exporting.bundle import Bundle
    from streamgauge.flags.asked import Asked
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    bundle = Bundle(file)
    try:
        content = yaml.safe_load(bundle.workload_text())
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"{file}: workload.yaml: is not valid YAML: {' '.join(str(error).split())}") from None
    again = f"run {bundle.manifest.run} again; what is different: streamgauge diff {file} latest"
    return Asked(parse(Workload, content, f"{file}: workload.yaml"), (again,))


def _of_omb(content: dict[str, Any], file: Path, driver: Path | None) -> Asked:
    from streamgauge.flags.asked import Asked
    from streamgauge.flags.kafka_target import kafka_target
    from streamgauge.importing.omb_workload import omb_run
    from streamgauge.spec.loading import parse, read_mapping
    from streamgauge.spec.workload import Workload

    theirs = None if driver is None else read_mapping(driver)
    found = omb_run(content, file, theirs, kafka_target(None, None, None))
    return Asked(parse(Workload, found.content, str(file)), found.notes)


def _refuse_both(*, workload: Path | None, resume: str | None, **_: Any) -> None:
    if (workload is None) == (resume is None):
        raise BadInput("run: give a workload, or --resume and a run")


run_command = that_runs(_loaded, refuse=_refuse_both)
