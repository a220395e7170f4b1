"""Runs for Python: a run is an object, its figures are attributes, its messages a table.

A workload is run by the command in a process of its own: what it starts, and Spark with it, ends there, and
the caller's process keeps its signals and its memory. The command has deadlines for all that it waits for.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.api.rows import Rows
from streamgauge.cli.exit_codes import NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.finding import find_run
from streamgauge.cli.run_names import runs_folder
from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tags_of
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.report.case_document import Case, CasesDocument, Statistics
from streamgauge.report.document import Document
from streamgauge.report.results import results_document, stored_document

if TYPE_CHECKING:
    from streamgauge.comparing.document import DiffDocument

_BEGUN = re.compile(r"^run (\S+)$", re.MULTILINE)
_DONE = (0, NOT_OK_EXIT_CODE, NOT_DECIDABLE_EXIT_CODE)


class Run:
    """One run folder."""

    def __init__(self, folder: RunDir) -> None:
        self.folder = folder

    @property
    def id(self) -> str:
        return self.folder.id

    @property
    def tags(self) -> list[str]:
        return tags_of(self.folder)

    @cached_property
    def document(self) -> Document:
        """All results, typed (docs/results.md)."""
        return results_document(self.folder)

    @property
    def cases(self) -> list[Case]:
        """Of a run of messages."""
        if not isinstance(self.document, CasesDocument):
            raise BadInput(f"{self.id}: a run of kind {self.document.kind} has no cases; see its document")
        return self.document.cases

    @property
    def case(self) -> Case:
        """The one that there is."""
        if len(self.cases) != 1:
            names = ", ".join(case.case for case in self.cases)
            raise BadInput(f"{self.id}: has {len(self.cases)} cases ({names}); choose one of .cases")
        return self.cases[0]

    @property
    def latency(self) -> Statistics:
        """Of its one case, in ms: to the receipt, or to the ack without consumers."""
        return self.case.main_latency

    @property
    def messages(self) -> Rows:
        """A row a message: `.to_arrow()`, `.to_pandas()`, `.to_polars()`, `.to_spark(session)`."""
        return self.table("messages")

    def table(self, name: str) -> Rows:
        """Any result table, by its name."""
        tables = {table.name: table for table in result_tables_of(self.document.kind)}
        if name not in tables:
            raise BadInput(f"{self.id}: has no table {name!r}; allowed: {', '.join(tables)}")
        return Rows(self.folder, tables[name])

    def __repr__(self) -> str:
        found = self.document
        return f"<Run {self.id}: {found.status}, integrity {found.integrity}, {found.validity}>"

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        from streamgauge.api.notebook import shown_html
        from streamgauge.report.result_tables import ResultTables
        from streamgauge.report.write import shown_of

        # The answer takes a look at every message: the report had it, and left it.
        answer = self.document.answer or stored_document(self.folder).answer
        document = self.document.model_copy(update={"answer": answer})
        return shown_html(shown_of(document, ResultTables.read(self.folder)))


def open(name: str = "latest", out: str | None = None) -> Run:
    """By folder, name or how that begins, tag, `latest` (docs/runs.md)."""
    return Run(find_run(name, out))


def run(workload: str | Path | Mapping[str, Any], *, out: str | None = None, tags: Sequence[str] = ()) -> Run:
    """Run a workload, a file or its content, and give its results. A case that failed is in them; what could
    not be run is an error."""
    folder = out or runs_folder()
    with _file(workload) as file:
        marks = [part for tag in tags for part in ("--tag", tag)]
        command = ["run", str(file), "--out", folder, *marks]
        done = subprocess.run(
            [sys.executable, "-m", "streamgauge.cli.main", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    begun = _BEGUN.search(done.stderr)
    if done.returncode not in _DONE or begun is None:
        said = [line for line in done.stderr.splitlines() if line.startswith("streamgauge: ")]
        words = "\n".join(line.removeprefix("streamgauge: ") for line in said) or done.stderr.strip()
        kind = BadInput if done.returncode == BadInput.exit_code else StreamgaugeError
        raise kind(words or f"streamgauge run ended with exit code {done.returncode}")
    return Run(RunDir.open(RunDir.below(folder, begun[1]).location))


def diff(base: Run | Sequence[Run], *new: Run | Sequence[Run], **how: float) -> DiffDocument:
    """What is different, typed (docs/diff.md); several runs of one side are repeats. A notebook shows it."""
    from streamgauge.api.difference import Difference
    from streamgauge.comparing.differences import diff_document
    from streamgauge.comparing.measured import measured_run

    if not new:
        raise BadInput("diff: give a base and at least one other run")
    sides = [[side] if isinstance(side, Run) else list(side) for side in (base, *new)]
    measured = [[measured_run(each.folder) for each in side] for side in sides]
    return Difference.model_validate(diff_document(measured[0], measured[1:], **how).model_dump())


@contextmanager
def _file(workload: str | Path | Mapping[str, Any]) -> Iterator[Path]:
    """A workload's content becomes a file for a while."""
    if not isinstance(workload, Mapping):
        yield Path(workload)
        return
    import yaml

    with tempfile.TemporaryDirectory(prefix="streamgauge-workload-") as folder:
        file = Path(folder) / "workload.yaml"
        file.write_text(yaml.safe_dump(dict(workload), sort_keys=False), "utf-8")
        yield file
