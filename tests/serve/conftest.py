from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.report.document import document_text
from streamgauge.report.results import results_document
from tests.report.sample_run import single_run, sweep_run

OLD, NEW = "20260102-030405-end-to-end-ab12", "20260103-030405-end-to-end-ab34"
SWEPT = "20260104-030405-sweep-cd34"


@pytest.fixture(scope="session")
def written_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs with results, and with pages that took nobody long to make; not to be changed."""
    folder = tmp_path_factory.mktemp("served") / "runs"
    for run in (single_run(folder / OLD), single_run(folder / NEW), sweep_run(folder / SWEPT)):
        run.write_text(run.results_document, document_text(results_document(run)))
        run.write_text(run.report_page, f"<!doctype html><h1>{run.id}</h1>")
        run.write_text(run.report_markdown, f"# {run.id}\n")
        run.write_text(f"{run.report_csv}/cases.csv", "case,p99_ms\n001,1.5\n")
        run.write_text(run.workload, "kind: e2e\nname: end-to-end\n")
    tag_run(RunDir(str(folder / OLD)), ["nightly"])
    return folder
