"""`streamgauge deploy kubernetes`, as a user calls it."""

from __future__ import annotations

import kubernetes_validate
import yaml

from tests.cli.streamgauge_command import in_process

_IMAGE = ("--image", "registry/streamgauge:1")


def test_any_command_that_runs_something_is_written_down() -> None:
    written = in_process(
        *(
            "deploy",
            "kubernetes",
            *_IMAGE,
            "--out",
            "s3a://bucket/runs",
            "--secret",
            "AWS_ACCESS_KEY_ID=s3:id",
        ),
        *("e2e", "--bootstrap", "kafka:9092", "--test-producer-processes", "4"),
    )
    assert written.returncode == 0, written.stderr
    assert "# 5 agents: as many pods" in written.stdout
    found = {one["kind"]: one for one in yaml.safe_load_all(written.stdout)}
    workload = yaml.safe_load(found["ConfigMap"]["data"]["workload.yaml"])
    assert workload["load"]["producers"] == 4
    assert workload["targets"][0]["settings"]["bootstrap"] == "kafka:9092"
    assert found["Job"]["metadata"]["name"] == "streamgauge-e2e"
    sweep = in_process("deploy", "kubernetes", *_IMAGE, "sweep", "--partitions", "1,2")
    assert sweep.returncode == 0, sweep.stderr


def test_the_whole_of_it_is_valid_by_the_schemas_whatever_is_asked_for() -> None:
    e2e = ("e2e", "--bootstrap", "kafka:9092", "--producers", "4", "--rate", "10k/s", "--duration", "60s")
    for flags in (
        ("--storage", "1.5Ti", "--launcher-cores", "500m", "--launcher-memory", "8G"),
        ("--out", "s3a://bucket/runs", "--secret", "AWS_ACCESS_KEY_ID=s3:id", "--agent-memory", "1.5Gi"),
        ("--namespace", "perf", "--name", "nightly"),
    ):
        written = in_process("deploy", "kubernetes", *_IMAGE, *flags, *e2e)
        assert written.returncode == 0, written.stderr
        found = list(yaml.safe_load_all(written.stdout))
        assert {"Namespace", "Role", "ConfigMap", "Job"} <= {one["kind"] for one in found}
        for manifest in found:
            assert kubernetes_validate.validate(manifest, "1.36", strict=True) == "1.36"


def test_what_cannot_be_is_said_in_a_line() -> None:
    for words, said in (
        (("e2e", "--nosuch"), "No such option: --nosuch"),
        (("e2e", "--out", "here"), "deploy: --out is not for the command"),
        (("gateway",), "No such option: --print-workload"),
        ((), "Missing argument"),
    ):
        refused = in_process("deploy", "kubernetes", *_IMAGE, *words)
        assert refused.returncode == 2, words
        assert said in refused.stderr
        assert not refused.stdout
