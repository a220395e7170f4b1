"""Secrets of a target, from the workload's file to everything that a run leaves."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.streamgauge_command import Streamgauge, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

SECRETS = {
    "SG_ADDRESS": "",
    "SG_PASSWORD": "hunter2-in-a-file",
    "SG_LOGIN": 'x.PlainLoginModule required username="me" password="hunter3-in-a-login";',
    "SG_KEY": "-----BEGIN PRIVATE KEY-----\nhunter4aHVudGVyNGh1bnRlcjQ=\n-----END PRIVATE KEY-----",
}
TOLD = ("hunter2", "hunter3", "hunter4")
WORKLOAD = """
name: secret
targets:
- name: kafka
  driver: kafka_java
  settings: {bootstrap: "${SG_ADDRESS}"}
  client: {ssl.truststore.password: "${SG_PASSWORD}", sasl.jaas.config: "${SG_LOGIN}"}
  consumer_client: {ssl.keystore.key: "${SG_KEY}"}
load: {messages: 100, rate: 1000}
"""


def test_no_secret_is_left_in_a_run_folder_and_a_resumed_run_asks_for_it_again(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    file, out = tmp_path / "w.yaml", tmp_path / "runs"
    file.write_text(WORKLOAD)
    done = run_here("run", file, "--out", out, "--live", "off", env={**SECRETS, "SG_ADDRESS": kafka})
    assert done.returncode == 0, done.stderr
    run = one_run(out)
    _assert_told_nowhere(run)
    for name in ("workload.yaml", "plan.json", "status.json", "environment.json"):
        assert stat.S_IMODE((run / name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE((run / "logs").stat().st_mode) == 0o700
    environment = json.loads((run / "environment.json").read_text())
    assert environment["clients"]["kafka"]["producer"], "settings in force are kept, without secrets"

    # As it was after its only case had been cut off.
    status = json.loads((run / "status.json").read_text())
    (run / "status.json").write_text(json.dumps({**status, "status": "partial", "cases": {}}))
    again = run_here("run", "--resume", run, env={"SG_ADDRESS": kafka, "SG_LOGIN": "x", "SG_KEY": "y"})
    assert again.returncode == 2
    assert "client.ssl.truststore.password: the environment has no SG_PASSWORD" in " ".join(
        again.stderr.split()
    )


def _assert_told_nowhere(run: Path) -> None:
    looked_at = 0
    for path in run.rglob("*"):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if path.suffix == ".parquet":
            content += str(pq.read_table(path, partitioning=None).to_pydict()).encode()
        assert not [word for word in TOLD if word.encode() in content], path
        looked_at += 1
    assert looked_at > 10
