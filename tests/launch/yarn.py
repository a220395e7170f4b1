"""A real YARN: a resource manager and a node manager, from the Hadoop that PySpark brings along."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import LIGHT, find_java
from streamgauge.systems.ports import HOST, free_ports

_START_DEADLINE_S = 90.0
_SERVERS = ("resourcemanager.ResourceManager", "nodemanager.NodeManager")
_JARS = Path(pyspark.__path__[0], "jars")
_ADDRESSES = (
    "yarn.resourcemanager.webapp.address",
    "yarn.resourcemanager.address",
    "yarn.resourcemanager.scheduler.address",
    "yarn.resourcemanager.resource-tracker.address",
    "yarn.resourcemanager.admin.address",
    "yarn.nodemanager.address",
    "yarn.nodemanager.localizer.address",
    "yarn.nodemanager.webapp.address",
    "yarn.nodemanager.collector-service.address",
)
_QUEUE = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
}


@contextmanager
def yarn(folder: Path) -> Iterator[Path]:
    """The folder of its settings, for HADOOP_CONF_DIR."""
    conf = folder / "conf"
    conf.mkdir()
    ports = free_ports(len(_ADDRESSES))
    addresses = {name: f"{HOST}:{port}" for name, port in zip(_ADDRESSES, ports, strict=True)}
    _write(conf / "yarn-site.xml", {**_site(folder), **addresses})
    _write(conf / "capacity-scheduler.xml", _QUEUE)
    _write(conf / "core-site.xml", {"hadoop.tmp.dir": str(folder / "tmp")})
    with ExitStack() as stack:
        servers = [stack.enter_context(_server(name, folder, conf)) for name in _SERVERS]
        _wait_for_a_node(addresses[_ADDRESSES[0]], servers, folder)
        yield conf


def spark_settings() -> str:
    """For spark-defaults.conf: containers find Spark's jars where they are."""
    settings = {
        "spark.submit.deployMode": "client",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.executor.memoryOverhead": "512m",
        "spark.yarn.am.memory": "256m",
        "spark.yarn.am.extraJavaOptions": " ".join(LIGHT),
        "spark.executor.extraJavaOptions": " ".join(LIGHT),
        "spark.yarn.jars": f"local:{_JARS}/*",
    }
    return "".join(f"{name} {value}\n" for name, value in settings.items())


def _site(folder: Path) -> dict[str, str]:
    return {
        "yarn.resourcemanager.hostname": HOST,
        "yarn.nodemanager.hostname": HOST,
        "yarn.nodemanager.local-dirs": str(folder / "local"),
        "yarn.nodemanager.log-dirs": str(folder / "logs"),
        "yarn.nodemanager.resource.memory-mb": "8192",
        "yarn.nodemanager.resource.cpu-vcores": "8",
        "yarn.scheduler.minimum-allocation-mb": "128",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        # A disk of a developer's machine may be nearly full.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
        "yarn.timeline-service.enabled": "false",
    }


@contextmanager
def _server(name: str, folder: Path, conf: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(find_java().executable, *LIGHT, "-Xmx256m", f"-Dhadoop.log.dir={folder}"),
                *("-cp", f"{conf}:{classpath([*fetch('yarn'), _JARS / '*'])}"),
                f"org.apache.hadoop.yarn.server.{name}",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


def _wait_for_a_node(address: str, servers: list[subprocess.Popen[bytes]], folder: Path) -> None:
    deadline = time.monotonic() + _START_DEADLINE_S
    while time.monotonic() < deadline and all(server.poll() is None for server in servers):
        try:
            with urllib.request.urlopen(f"http://{address}/ws/v1/cluster/metrics", timeout=5) as answer:
                if json.load(answer)["clusterMetrics"]["activeNodes"]:
                    return
        except (OSError, ValueError):
            pass
        time.sleep(0.2)
    raise AssertionError("\n".join((folder / f"{name}.log").read_text()[-2000:] for name in _SERVERS))


def _write(file: Path, settings: Mapping[str, str]) -> None:
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
    )
    file.write_text(f"<configuration>{properties}</configuration>")
