"""A run as Kubernetes takes it: a Job is the launcher, which has Spark start a pod for every agent.

Values in, manifests out; nothing here talks to a cluster.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

from streamgauge.core.environment import LAUNCHER_POD_VARIABLE
from streamgauge.core.errors import BadInput

MASTER = "k8s://https://kubernetes.default.svc"
"""The API as pods find it."""
OUT_OF_A_CLAIM = "/runs"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_CORES = re.compile(r"[0-9]+(\.[0-9]+)?m?")
_BYTES = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>k|[MGTPE]|[KMGTPE]i)?")
_SECRET = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=([a-z0-9][-a-z0-9.]{0,252}):([-._A-Za-z0-9]+)")
_SETTINGS_FOLDER, _WORKLOAD_FILE = "/etc/streamgauge", "workload.yaml"
_ACCOUNT, _SETTINGS, _CLAIM = "streamgauge", "streamgauge-settings", "streamgauge-runs"
_KEPT_S = 86_400
_UNPRIVILEGED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}

Manifest = dict[str, Any]


@dataclass(frozen=True)
class SecretVariable:
    """A variable whose value is a key of a Secret of the cluster's."""

    variable: str
    secret: str
    key: str

    @classmethod
    def parse(cls, text: str) -> SecretVariable:
        match = _SECRET.fullmatch(text)
        if match is None:
            raise BadInput(f"--secret {text}: it is VARIABLE=SECRET:KEY, the Secret being there already")
        return cls(*match.groups())


@dataclass(frozen=True)
class KubernetesRun:
    name: str
    workload: str
    """As YAML: the pod has no other file of whoever asked."""
    image: str
    namespace: str = "streamgauge"
    out: str = OUT_OF_A_CLAIM
    """A URL of an object store, or the folder that a claim is mounted at."""
    storage: str = "20Gi"
    """Of that claim."""
    secrets: tuple[SecretVariable, ...] = ()
    """For launcher and agents."""
    launcher_cores: str = "2"
    launcher_memory: str = "4Gi"
    agent_memory: str = "2Gi"
    """Beside Java's gibibyte: the agent itself, with its records in memory."""

    def __post_init__(self) -> None:
        for what, name in (("--namespace", self.namespace), ("--name", self.name)):
            if not _NAME.fullmatch(name):
                raise BadInput(f"{what} {name}: Kubernetes takes a-z, 0-9 and -, at most 63 of them")
        if not _CORES.fullmatch(self.launcher_cores):
            raise BadInput(
                f"--launcher-cores {self.launcher_cores}: is no quantity of Kubernetes', such as 2 or 500m"
            )
        for what, amount in (
            ("--storage", self.storage),
            ("--launcher-memory", self.launcher_memory),
            ("--agent-memory", self.agent_memory),
        ):
            if not _BYTES.fullmatch(amount) or not _mebibytes(amount):
                raise BadInput(f"{what} {amount}: is no size of Kubernetes', such as 512Mi, 1.5Gi or 4G")
        if "://" not in self.out and self.out != OUT_OF_A_CLAIM:
            raise BadInput(f"--out {self.out}: a pod has no such folder; a URL, or nothing for a claim")

    @property
    def has_claim(self) -> bool:
        return self.out == OUT_OF_A_CLAIM


def manifests(run: KubernetesRun) -> list[Manifest]:
    """In the order in which they need each other."""
    claims = [_claim(run)] if run.has_claim else []
    return [_namespace(run), *_rights(run), _settings(run), *claims, _job(run)]


def as_yaml(written: list[Manifest]) -> str:
    """Files in it are read by people, too: as blocks of lines."""
    return yaml.dump_all(written, Dumper=_Blocks, sort_keys=False, allow_unicode=True)


class _Blocks(yaml.SafeDumper):
    pass


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Blocks.add_representer(str, _as_block)


def _named(run: KubernetesRun, api: str, kind: str, name: str, **content: Any) -> Manifest:
    labels = {"app.kubernetes.io/name": "streamgauge"}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": run.namespace, "labels": labels},
        **content,
    }


def _namespace(run: KubernetesRun) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": run.namespace}}


def _rights(run: KubernetesRun) -> list[Manifest]:
    """What Spark's driver needs to start, watch and end its executors, in this namespace alone."""
    group = "rbac.authorization.k8s.io"
    rule = {
        "apiGroups": [""],
        "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"],
        "verbs": ["create", "get", "list", "watch", "delete", "deletecollection", "patch", "update"],
    }
    return [
        _named(run, "v1", "ServiceAccount", _ACCOUNT),
        _named(run, f"{group}/v1", "Role", _ACCOUNT, rules=[rule]),
        _named(
            run,
            f"{group}/v1",
            "RoleBinding",
            _ACCOUNT,
            subjects=[{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": run.namespace}],
            roleRef={"apiGroup": group, "kind": "Role", "name": _ACCOUNT},
        ),
    ]


def _settings(run: KubernetesRun) -> Manifest:
    lines = "".join(f"{name} {value}\n" for name, value in spark_defaults(run).items())
    return _named(
        run, "v1", "ConfigMap", _SETTINGS, data={"spark-defaults.conf": lines, _WORKLOAD_FILE: run.workload}
    )


def spark_defaults(run: KubernetesRun) -> dict[str, str]:
    """An agent has a core of its own, undisturbed: pods that share cores measure each other."""
    settings = {
        "spark.kubernetes.namespace": run.namespace,
        "spark.kubernetes.container.image": run.image,
        "spark.kubernetes.authenticate.driver.serviceAccountName": _ACCOUNT,
        "spark.kubernetes.authenticate.executor.serviceAccountName": _ACCOUNT,
        "spark.executor.cores": "1",
        "spark.kubernetes.executor.request.cores": "1",
        "spark.kubernetes.executor.limit.cores": "1",
        "spark.executor.memory": "1g",
        "spark.executor.memoryOverhead": f"{_mebibytes(run.agent_memory)}m",
    }
    for one in run.secrets:
        settings[f"spark.kubernetes.executor.secretKeyRef.{one.variable}"] = f"{one.secret}:{one.key}"
    return settings


def _mebibytes(amount: str) -> int:
    """What Spark takes: it knows no fractions and no powers of ten, and a bare number is mebibytes to it."""
    found = _BYTES.fullmatch(amount)
    assert found is not None
    unit = found["unit"] or ""
    factor: int = (1024 if unit.endswith("i") else 1000) ** " KMGTPE".index(unit[:1].upper() or " ")
    return math.ceil(Decimal(found["number"]) * factor / 2**20)


def _claim(run: KubernetesRun) -> Manifest:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": run.storage}}}
    return _named(run, "v1", "PersistentVolumeClaim", _CLAIM, spec=wanted)


def _job(run: KubernetesRun) -> Manifest:
    mounts = [{"name": "settings", "mountPath": _SETTINGS_FOLDER}]
    volumes: list[Manifest] = [{"name": "settings", "configMap": {"name": _SETTINGS}}]
    if run.has_claim:
        mounts.append({"name": "runs", "mountPath": OUT_OF_A_CLAIM})
        volumes.append({"name": "runs", "persistentVolumeClaim": {"claimName": _CLAIM}})
    launcher: Manifest = {
        "name": "launcher",
        "image": run.image,
        "args": ["run", f"{_SETTINGS_FOLDER}/{_WORKLOAD_FILE}", f"--master={MASTER}", f"--out={run.out}"],
        "env": [
            # Executors reach the launcher at its pod's address.
            {"name": "SPARK_LOCAL_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            # And belong to that pod: they go with it, however it ends.
            {"name": LAUNCHER_POD_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "SPARK_CONF_DIR", "value": _SETTINGS_FOLDER},
            *(
                {
                    "name": one.variable,
                    "valueFrom": {"secretKeyRef": {"name": one.secret, "key": one.key}},
                }
                for one in run.secrets
            ),
        ],
        "resources": {
            "requests": {"cpu": run.launcher_cores, "memory": run.launcher_memory},
            "limits": {"memory": run.launcher_memory},
        },
        "securityContext": _UNPRIVILEGED,
        "volumeMounts": mounts,
    }
    pod = {
        "serviceAccountName": _ACCOUNT,
        "restartPolicy": "Never",
        # The image's user; the group may write to the claim.
        "securityContext": {"runAsUser": 1000, "runAsNonRoot": True, "fsGroup": 1000},
        "containers": [launcher],
        "volumes": volumes,
    }
    return _named(
        run,
        "batch/v1",
        "Job",
        run.name,
        spec={
            # A run that broke is told, not repeated.
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": _KEPT_S,
            "template": {"metadata": {"labels": {"app.kubernetes.io/name": "streamgauge"}}, "spec": pod},
        },
    )
