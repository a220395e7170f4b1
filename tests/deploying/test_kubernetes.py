"""What is written for Kubernetes is valid by its own schemas, fits together, and fits the program."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from streamgauge.core.environment import LAUNCHER_POD_VARIABLE
from streamgauge.core.errors import BadInput
from streamgauge.deploying.kubernetes import (
    MASTER,
    KubernetesRun,
    Manifest,
    SecretVariable,
    as_yaml,
    manifests,
    spark_defaults,
)
from streamgauge.launch.cluster_settings import cluster_settings

VERSIONS = ("1.27", "1.31", "1.36")
KEY = SecretVariable("AWS_ACCESS_KEY_ID", "bucket-key", "id")


def a_run(**changed: Any) -> KubernetesRun:
    given: dict[str, Any] = {"name": "e2e", "workload": "kind: e2e\nname: e2e\n", "image": "streamgauge:1"}
    return KubernetesRun(**{**given, **changed})


def of_kind(run: KubernetesRun, kind: str) -> Manifest:
    [found] = [manifest for manifest in manifests(run) if manifest["kind"] == kind]
    return found


def launcher_of(run: KubernetesRun) -> Manifest:
    [found] = of_kind(run, "Job")["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "run",
    [a_run(), a_run(out="s3a://bucket/runs", secrets=(KEY,), namespace="perf")],
    ids=["claim", "bucket"],
)
def test_the_schemas_of_the_api_accept_it(run: KubernetesRun, version: str) -> None:
    for manifest in yaml.safe_load_all(as_yaml(manifests(run))):
        assert kubernetes_validate.validate(manifest, version, strict=True) == version


def test_the_schemas_would_refuse_a_wrong_field() -> None:
    wrong = of_kind(a_run(), "Job")
    wrong["spec"]["backOffLimit"] = 0
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_what_is_named_is_there() -> None:
    run = a_run(namespace="perf")
    account = of_kind(run, "ServiceAccount")["metadata"]["name"]
    binding, pod = of_kind(run, "RoleBinding"), of_kind(run, "Job")["spec"]["template"]["spec"]
    assert binding["subjects"][0] == {"kind": "ServiceAccount", "name": account, "namespace": "perf"}
    assert pod["serviceAccountName"] == account
    assert binding["roleRef"]["name"] == of_kind(run, "Role")["metadata"]["name"]
    settings = spark_defaults(run)
    assert {value for key, value in settings.items() if key.endswith("serviceAccountName")} == {account}
    assert settings["spark.kubernetes.namespace"] == "perf"
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in launcher_of(run)["volumeMounts"]} == set(volumes)
    assert volumes["settings"]["configMap"]["name"] == of_kind(run, "ConfigMap")["metadata"]["name"]
    claim = volumes["runs"]["persistentVolumeClaim"]["claimName"]
    assert claim == of_kind(run, "PersistentVolumeClaim")["metadata"]["name"]
    others = [one for one in manifests(run) if one["kind"] != "Namespace"]
    assert {one["metadata"]["namespace"] for one in others} == {"perf"}


def test_the_pod_has_the_workload_and_where_it_goes() -> None:
    run = a_run(out="s3a://bucket/runs", secrets=(KEY,))
    launcher, files = launcher_of(run), of_kind(run, "ConfigMap")["data"]
    assert files["workload.yaml"] == run.workload
    mounted = {mount["name"]: mount["mountPath"] for mount in launcher["volumeMounts"]}
    assert launcher["args"] == [
        *("run", f"{mounted['settings']}/workload.yaml"),
        *(f"--master={MASTER}", "--out=s3a://bucket/runs"),
    ]
    assert "PersistentVolumeClaim" not in {one["kind"] for one in manifests(run)}
    variables = {variable["name"]: variable for variable in launcher["env"]}
    assert variables["SPARK_CONF_DIR"]["value"] == mounted["settings"]
    assert variables[KEY.variable]["valueFrom"]["secretKeyRef"] == {"name": "bucket-key", "key": "id"}
    assert (
        f"spark.kubernetes.executor.secretKeyRef.{KEY.variable} bucket-key:id\n"
        in files["spark-defaults.conf"]
    )


def test_spark_may_start_and_end_pods() -> None:
    [rule] = of_kind(a_run(), "Role")["rules"]
    assert {"pods", "configmaps", "services", "persistentvolumeclaims"} <= set(rule["resources"])
    assert {"create", "get", "list", "watch", "delete", "deletecollection"} <= set(rule["verbs"])


def test_the_launcher_tells_executors_its_pods_address(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {variable["name"]: variable for variable in launcher_of(a_run())["env"]}
    assert variables["SPARK_LOCAL_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.1.2.3")
    made = cluster_settings(MASTER, 8)
    assert made.settings["spark.driver.host"] == "10.1.2.3"
    assert made.settings["spark.executor.instances"] == "8"
    assert made.settings["spark.authenticate"] == "true"


def test_pods_of_agents_are_the_launchers_and_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher that was killed left them: nobody owned them."""
    variables = {variable["name"]: variable for variable in launcher_of(a_run())["env"]}
    assert variables[LAUNCHER_POD_VARIABLE]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name"
    owner = "spark.kubernetes.driver.pod.name"
    monkeypatch.setenv(LAUNCHER_POD_VARIABLE, "e2e-x7x2k")
    assert cluster_settings(MASTER, 8).settings[owner] == "e2e-x7x2k"
    monkeypatch.delenv(LAUNCHER_POD_VARIABLE)
    assert owner not in cluster_settings(MASTER, 8).settings, "a launcher elsewhere is no pod"
    assert {"pods"} <= set(of_kind(a_run(), "Role")["rules"][0]["resources"]), "Spark looks it up"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("2Gi", "2048m"),
        ("1.5Gi", "1536m"),
        ("2147483648", "2048m"),
        ("2G", "1908m"),
        ("300k", "1m"),
        ("1Ei", f"{1 << 40}m"),
    ],
)
def test_an_agents_memory_is_told_as_spark_takes_it(asked: str, told: str) -> None:
    """Spark knows no fractions and no powers of ten, and a bare number is mebibytes to it."""
    assert spark_defaults(a_run(agent_memory=asked))["spark.executor.memoryOverhead"] == told


def test_what_the_program_sets_itself_is_not_set_in_vain() -> None:
    assert set(cluster_settings(MASTER, 2).settings).isdisjoint(spark_defaults(a_run(secrets=(KEY,))))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"namespace": "Perf_1"}, "--namespace Perf_1: Kubernetes takes"),
        ({"name": "x" * 64}, "--name x"),
        ({"storage": "20 GB"}, "--storage 20 GB: is no size"),
        ({"launcher_cores": "2Gi"}, "--launcher-cores 2Gi: is no quantity"),
        ({"launcher_memory": "4K"}, "--launcher-memory 4K: is no size"),
        ({"agent_memory": "500m"}, "--agent-memory 500m: is no size"),
        ({"agent_memory": "0"}, "--agent-memory 0: is no size"),
        ({"out": "/home/me"}, "--out /home/me: a pod has no such folder"),
    ],
)
def test_what_kubernetes_would_refuse_is_refused_here(changed: dict[str, str], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        a_run(**changed)


@pytest.mark.parametrize("text", ["KEY", "KEY=secret", "1KEY=secret:id", "KEY=Secret:id", "KEY=secret:i d"])
def test_a_secret_is_a_variable_of_a_key(text: str) -> None:
    with pytest.raises(BadInput, match="VARIABLE=SECRET:KEY"):
        SecretVariable.parse(text)
