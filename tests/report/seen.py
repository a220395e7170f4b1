"""What people see of a run, in each medium."""

from __future__ import annotations

import io
import re

from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.report.console_renderer import print_shown
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.page_frame import page_script
from streamgauge.report.page_renderer import render_page
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.shown import Shown
from streamgauge.report.write import shown_of


def shown(run: RunDir) -> Shown:
    tables = ResultTables.read(run)
    return shown_of(results_document(run, tables), tables)


def console_text(what: RunDir | Shown, width: int = 80, *, colour: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    print_shown(shown(what) if isinstance(what, RunDir) else what, console)
    return file.getvalue()


def markdown(run: RunDir) -> str:
    return shown_markdown(shown(run))


def page(run: RunDir) -> str:
    return render_page(shown(run), results_document(run).environment)


def own_part(made: str) -> str:
    """All of a page but the script that draws."""
    script = page_script()
    assert made.count(script) == 1
    return made.replace(script, "")


def words(made: str) -> str:
    """A page without its markup."""
    return re.sub(r"<[^>]+>", "", own_part(made))
