"""Agents and the analysis in containers of a real YARN."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamgauge.core.run_dir import runs_in
from tests.cli.streamgauge_command import DEADLINE_S
from tests.launch.yarn import spark_settings, yarn

pytestmark = [pytest.mark.broker, pytest.mark.spark]

_AS_IF_MUCH = """
from streamgauge.analysis.feeding import sizing
from streamgauge.cli.main import main
sizing._ROWS_HERE = -1  # nothing is so little that the launcher does it alone
main()
"""


def test_a_run_is_measured_and_analysed_on_yarn(kafka: str, tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "spark-defaults.conf").write_text(spark_settings())
    out = (tmp_path / "runs").as_uri()
    with yarn(tmp_path) as conf:
        where = {
            "HADOOP_CONF_DIR": str(conf),
            "SPARK_CONF_DIR": str(tmp_path / "spark"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        done = subprocess.run(
            [
                *(sys.executable, "-c", _AS_IF_MUCH, "e2e", "--master", "yarn", "--bootstrap", kafka),
                *("--test-produce-messages", "1000", "--test-produce-rate", "1000", "--out", out),
                *("--warm-up-messages", "0", "--live", "off"),
            ],
            env={**os.environ, **where},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    [run] = runs_in(out)
    counted = json.loads(run.read_text(run.results_document))["cases"][0]["accounting"]
    assert (counted["sent"], counted["received"], counted["lost_write"]) == (1000, 1000, 0)
    # One container of the application's own, one for each agent, on a node manager of ours.
    [application] = (tmp_path / "logs").iterdir()
    assert len(list(application.iterdir())) == 3
