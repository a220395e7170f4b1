"""`streamgauge gallery`: measuring faults on one simulated run, each beside what is true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug
from streamgauge.cli.run_names import complete_run
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir


@told_by("streamgauge gallery", "streamgauge gallery --html gallery.html")
def gallery_command(
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="An existing run of the gallery; by default one is made and removed.",
            show_default=False,
            autocompletion=complete_run,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Also write an HTML page.", show_default=False, dir_okay=False
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Show measuring faults on one simulated run: the wrong figure beside the true one."""
    import tempfile

    from streamgauge.cli.finding import find_run

    if run is not None:
        _tell(find_run(run), as_json, as_markdown, html)
        return
    with tempfile.TemporaryDirectory(prefix="streamgauge-gallery-") as folder:
        _tell(_made(folder, debug=debug), as_json, as_markdown, html)


def _made(folder: str, *, debug: bool) -> RunDir:
    """One message in 20 is lost in it, so that it ends as failed is as it should be."""
    from streamgauge.cli.running import run_workload
    from streamgauge.core.run_dir import runs_in
    from streamgauge.gallery import exhibits
    from streamgauge.spec.loading import load_workload

    workload = load_workload(Path(exhibits.__file__).parent / "shipped" / "gallery.yaml")
    run_workload(workload, out=folder, master=None, quiet=True, debug=debug)
    [run] = runs_in(folder)
    return run


def _tell(run: RunDir, as_json: bool, as_markdown: bool, html: Path | None) -> None:
    import json

    from rich.console import Console

    from streamgauge.gallery.exhibits import exhibits_of
    from streamgauge.gallery.show import show_gallery
    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.markdown_renderer import shown_markdown
    from streamgauge.report.page_renderer import render_page

    exhibits = exhibits_of(run)
    shown = show_gallery(exhibits, run.id)
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(render_page(shown, None), "utf-8")
        typer.echo(f"page: {html}", err=True)
    if as_json:
        typer.echo(json.dumps([each.model_dump() for each in exhibits], indent=1, ensure_ascii=False))
    elif as_markdown:
        typer.echo(shown_markdown(shown), nl=False)
    else:
        print_shown(shown, Console())
