"""What is in deploy/ fits together, and fits the program: nothing there can be tried without a cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from streamgauge.launch.cluster_settings import cluster_settings

DEPLOY = Path(__file__).parent.parent / "deploy"


def spark_defaults(text: str) -> dict[str, str]:
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {key: value.strip() for key, value in lines}


def test_the_image_is_of_this_version() -> None:
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"', project, re.MULTILINE)
    assert version is not None
    assert f"-t streamgauge:{version[1]} " in (DEPLOY / "Dockerfile").read_text()


def test_what_we_set_ourselves_is_not_set_in_vain() -> None:
    """A setting in spark-defaults.conf that the program overrides would mislead."""
    ours = {*cluster_settings("yarn", 2).settings}
    on_yarn = spark_defaults((DEPLOY / "yarn" / "spark-defaults.conf").read_text())
    assert ours.isdisjoint(on_yarn)
    assert on_yarn["spark.executor.cores"] == "1"


def test_the_image_is_built_from_files_that_are_there() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    copied = [line.split()[1:-1] for line in dockerfile.splitlines() if line.startswith("COPY")]
    for file in (name for names in copied for name in names):
        assert (DEPLOY.parent / file).exists(), file
    assert "--require-hashes" in dockerfile
    assert re.search(r"^USER 1000$", dockerfile, re.MULTILINE)


def test_the_entry_point_starts_an_executor_and_every_command(tmp_path: Path) -> None:
    for program in ("java", "streamgauge"):
        fake = tmp_path / program
        fake.write_text('#!/bin/sh\necho "$0"\nprintf "%s\\n" "$@"\n')
        fake.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{Path(shutil.which('sh') or '/bin/sh').parent}:/usr/bin:/bin",
        "SPARK_HOME": "/opt/spark",
        "SPARK_JAVA_OPT_0": "-Dspark.driver.port=7078",
        "SPARK_JAVA_OPT_1": "-Dspark.words=two words",
        "SPARK_EXECUTOR_MEMORY": "1g",
        "SPARK_DRIVER_URL": "spark://driver",
        "SPARK_EXECUTOR_ID": "3",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_APPLICATION_ID": "app",
        "SPARK_EXECUTOR_POD_IP": "10.0.0.9",
        "SPARK_EXECUTOR_POD_NAME": "pod-3",
    }

    def said(*arguments: str) -> list[str]:
        ran = subprocess.run(
            ["sh", str(DEPLOY / "entrypoint.sh"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return ran.stdout.splitlines()

    executor = said("executor")
    assert Path(executor[0]).name == "java"
    assert {"-Dspark.driver.port=7078", "-Dspark.words=two words", "-Xmx1g", "10.0.0.9"} <= set(executor)
    assert said("e2e", "--help")[1:] == ["e2e", "--help"]
