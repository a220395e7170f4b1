"""A run whose folder is on HDFS, from its first file to its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.core import run_dir
from streamgauge.core.run_dir import runs_in
from streamgauge.launch.hadoop_files import open_hadoop_files
from tests.cli.streamgauge_command import Streamgauge, in_process, streamgauge
from tests.launch.hdfs import hdfs

pytestmark = [pytest.mark.broker, pytest.mark.spark]


def test_a_run_on_hdfs_is_measured_analysed_and_reported(
    kafka: str, run_here: Streamgauge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_dir, "other_schemes", [open_hadoop_files])
    with hdfs(tmp_path) as address:
        out = f"{address}/runs"
        done = streamgauge(
            *(
                "e2e",
                "--bootstrap",
                kafka,
                "--out",
                out,
                "--test-produce-messages",
                "2000",
            ),
            *("--test-produce-rate", "2000", "--warm-up-messages", "0"),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        [run] = runs_in(out)
        assert f"report: {run.location}/report/index.html" in done.stderr
        assert len(list(run.list_files("events/sends", ".parquet"))) == 1
        # What a process needs to get there is the same for all commands; these three go by ours.
        shown = in_process("results", run.location, "--json", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        counted = json.loads(shown.stdout)["cases"][0]["accounting"]
        assert (counted["sent"], counted["received"], counted["lost_write"]) == (2000, 2000, 0)
        run.remove("results")
        run.remove("report")
        assert run_here("analyze", run.location, cwd=tmp_path).returncode == 0
        assert in_process("report", run.location, cwd=tmp_path).returncode == 0
        assert run.read_text(run.report_page).rstrip().endswith("</html>")
        assert len(run.read_text(run.report_page)) > 50_000, "with its plots, and what draws them"
        again = json.loads(run.read_text(run.results_document))["cases"][0]["accounting"]
        assert again == counted
    assert not (tmp_path / "hdfs:").exists(), "nobody took the URL for a path"
