"""What is in deploy/ fits together, and fits the program: nothing there can be tried without a cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.launch.cluster_settings import cluster_settings

DEPLOY = Path(__file__).parent.parent / "deploy"
MANIFESTS = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "streamgauge.yaml").read_text()))
API_VERSIONS = {
    "Namespace": "v1",
    "ServiceAccount": "v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ConfigMap": "v1",
    "PersistentVolumeClaim": "v1",
    "Job": "batch/v1",
}
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def of_kind(kind: str) -> dict[str, Any]:
    [found] = [manifest for manifest in MANIFESTS if manifest["kind"] == kind]
    return found


def spark_defaults(text: str) -> dict[str, str]:
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {key: value.strip() for key, value in lines}


POD = of_kind("Job")["spec"]["template"]["spec"]
LAUNCHER = POD["containers"][0]
ON_KUBERNETES = spark_defaults(of_kind("ConfigMap")["data"]["spark-defaults.conf"])


def test_every_manifest_has_its_kind_and_a_name_in_the_namespace() -> None:
    namespace = of_kind("Namespace")["metadata"]["name"]
    for manifest in MANIFESTS:
        assert manifest["apiVersion"] == API_VERSIONS[manifest["kind"]]
        assert NAME.fullmatch(manifest["metadata"]["name"])
        if manifest["kind"] != "Namespace":
            assert manifest["metadata"]["namespace"] == namespace
    assert ON_KUBERNETES["spark.kubernetes.namespace"] == namespace


def test_what_is_named_is_there() -> None:
    account = of_kind("ServiceAccount")["metadata"]["name"]
    binding = of_kind("RoleBinding")
    assert binding["subjects"][0]["name"] == POD["serviceAccountName"] == account
    assert binding["roleRef"]["name"] == of_kind("Role")["metadata"]["name"]
    assert {value for key, value in ON_KUBERNETES.items() if key.endswith("serviceAccountName")} == {account}
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    assert {mount["name"] for mount in LAUNCHER["volumeMounts"]} == set(volumes)
    assert volumes["spark-defaults"]["configMap"]["name"] == of_kind("ConfigMap")["metadata"]["name"]
    claim = volumes["runs"]["persistentVolumeClaim"]["claimName"]
    assert claim == of_kind("PersistentVolumeClaim")["metadata"]["name"]


def test_spark_may_start_and_end_pods() -> None:
    [rule] = of_kind("Role")["rules"]
    assert {"pods", "configmaps", "services", "persistentvolumeclaims"} <= set(rule["resources"])
    assert {"create", "get", "list", "watch", "delete", "deletecollection"} <= set(rule["verbs"])


def test_launcher_and_executors_are_one_image_in_this_version() -> None:
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"', project, re.MULTILINE)
    assert version is not None
    image = f"streamgauge:{version[1]}"
    assert LAUNCHER["image"] == ON_KUBERNETES["spark.kubernetes.container.image"] == image
    assert f"-t {image} " in (DEPLOY / "Dockerfile").read_text()


def test_its_arguments_are_a_command_of_ours() -> None:
    printed = CliRunner().invoke(app, [*LAUNCHER["args"], "--print-workload"])
    assert printed.exit_code == 0, printed.output
    load = yaml.safe_load(printed.output)["load"]
    assert (load["producers"], load["consumers"]) == (4, 4)
    out = next(argument for argument in LAUNCHER["args"] if argument.startswith("--out="))
    assert out.removeprefix("--out=") in {mount["mountPath"] for mount in LAUNCHER["volumeMounts"]}


def test_the_launcher_tells_executors_its_pods_address(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {variable["name"]: variable for variable in LAUNCHER["env"]}
    assert variables["SPARK_LOCAL_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    mounted = {mount["name"]: mount["mountPath"] for mount in LAUNCHER["volumeMounts"]}
    assert variables["SPARK_CONF_DIR"]["value"] == mounted["spark-defaults"]
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.1.2.3")
    made = cluster_settings("k8s://https://kubernetes.default.svc", 8)
    assert made.settings["spark.driver.host"] == "10.1.2.3"
    assert made.settings["spark.executor.instances"] == "8"
    assert made.settings["spark.authenticate"] == "true"


def test_what_we_set_ourselves_is_not_set_in_vain() -> None:
    """A setting in spark-defaults.conf that the program overrides would mislead."""
    ours = {*cluster_settings("yarn", 2).settings}
    on_yarn = spark_defaults((DEPLOY / "yarn" / "spark-defaults.conf").read_text())
    assert ours.isdisjoint(ON_KUBERNETES)
    assert ours.isdisjoint(on_yarn)
    assert on_yarn["spark.executor.cores"] == ON_KUBERNETES["spark.executor.cores"] == "1"


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
