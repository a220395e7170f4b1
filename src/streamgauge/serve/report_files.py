"""Files of a run's report, and no others: what is not in its folder is not there, however it is asked for."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.serve.requests import HTML, Answer, Refused
from streamgauge.serve.safety import REPORT_POLICY

_MOST_BYTES = 256 << 20
_TYPES = {".csv": "text/csv; charset=utf-8", ".md": "text/plain; charset=utf-8", ".html": HTML}
_SHOWN = (".html", ".svg", ".png", ".md")
_LISTED = (".csv", ".svg", ".png", ".md", ".html", ".txt", ".gp", ".hgrm", ".hlog")


def report_file(run: RunDir, pieces: Sequence[str]) -> Answer:
    """`pieces`: below the report's folder; raises Refused."""
    if not pieces or any(piece.startswith(".") for piece in pieces):
        raise _missing()
    relative = "/".join((run.report_folder, *pieces))
    content = _local(run, relative) if run.is_local else _elsewhere(run, relative)
    suffix = Path(pieces[-1]).suffix.lower()
    kind = _TYPES.get(suffix) or mimetypes.guess_type(pieces[-1])[0] or "application/octet-stream"
    shown = "inline" if suffix in _SHOWN else "attachment"
    headers = (("Content-Security-Policy", REPORT_POLICY), ("Content-Disposition", shown))
    return Answer(content, content_type=kind, headers=headers)


def report_names(run: RunDir) -> list[str]:
    """What there is beside the page, as paths below the report's folder."""
    start = len(run.report_folder) + 1
    found = (path[start:] for path in run.list_files(run.report_folder))
    return [
        name for name in found if name.endswith(_LISTED) and name != "index.html" and "/." not in f"/{name}"
    ]


def page_of(run: RunDir) -> Answer:
    """The stored page; of a run with results and no page, one that is made now."""
    if run.has(run.report_page):
        return report_file(run, ("index.html",))
    return Answer(_rendered(run).encode(), headers=(("Content-Security-Policy", REPORT_POLICY),))


def _rendered(run: RunDir) -> str:
    # Here and not at the top: it loads all of the plotting.
    from streamgauge.report.page_renderer import render_page
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.results import results_document
    from streamgauge.report.write import shown_of

    try:
        tables = ResultTables.read(run)
        document = results_document(run, tables)
        return render_page(shown_of(document, tables), document.environment)
    except CorruptRun as error:
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no report yet: {error}") from None


def _local(run: RunDir, relative: str) -> bytes:
    """A link may lie in the report's folder, and lead out of it: what counts is where it ends."""
    try:
        home = run.local(run.report_folder).resolve(strict=True)
        path = run.local(relative).resolve(strict=True)
        if home.parent != run.local().resolve() or not path.is_relative_to(home) or not path.is_file():
            raise _missing()
        if path.stat().st_size > _MOST_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "this file is too large to be sent from here")
        return path.read_bytes()
    except (OSError, RuntimeError, ValueError):
        raise _missing() from None


def _elsewhere(run: RunDir, relative: str) -> bytes:
    try:
        with run.open_input(relative) as file:
            if file.size() > _MOST_BYTES:
                raise Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "this file is too large to be sent from here"
                )
            return bytes(file.read())
    except OSError:
        raise _missing() from None


def _missing() -> Refused:
    return Refused(HTTPStatus.NOT_FOUND, "there is no such file in the run's report")
