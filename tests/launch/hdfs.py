"""A real HDFS in one process: name node and one data node, from the Hadoop that PySpark brings along."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import LIGHT, find_java

_START_DEADLINE_S = 90.0


@contextmanager
def hdfs(folder: Path) -> Iterator[str]:
    """Its address, as hdfs://host:port."""
    jars = [*fetch("hdfs"), Path(pyspark.__path__[0], "jars", "*")]
    details = folder / "details.json"
    with (folder / "hdfs.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(find_java().executable, *LIGHT, "-Xmx256m", f"-Dhdfs.minidfs.basedir={folder / 'data'}"),
                *("-cp", classpath(jars)),
                *("org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-format"),
                *("-writeDetails", str(details)),
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        yield f"hdfs://127.0.0.1:{_port(process, details)}"
    finally:
        process.kill()
        process.wait(30)


def _port(process: subprocess.Popen[bytes], details: Path) -> int:
    deadline = time.monotonic() + _START_DEADLINE_S
    while time.monotonic() < deadline:
        try:
            return int(json.loads(details.read_text())["namenode_port"])
        except (OSError, ValueError, KeyError):
            assert process.poll() is None, (details.parent / "hdfs.log").read_text()[-2000:]
            time.sleep(0.2)
    raise AssertionError("HDFS did not come up in time")
