"""What Spark has to be told when its tasks run on other hosts."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from streamgauge.core.environment import LAUNCHER_POD_VARIABLE
from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.core.outside import own_address
from streamgauge.launch.application import application_settings
from streamgauge.launch.shared_secret import find_secret
from streamgauge.launch.standalone import SECURE, check_listening
from streamgauge.plan.slots import local_slots

STANDALONE_PORT = 7077
_EXECUTORS_DEADLINE_S = 60.0
_LOOK_S = 0.2
_SETTLED_S = 10.0
_WATCH_S, _GONE_S = 3.0, 20.0
_CONNECT_DEADLINE_S = 5.0

_ON_ANY_CLUSTER = {
    # A host that does not answer for so long is lost; by default it is two minutes.
    "spark.executor.heartbeatInterval": "2s",
    "spark.network.timeoutInterval": "2s",
    "spark.storage.blockManagerHeartbeatTimeoutMs": "10s",
}


@dataclass(frozen=True)
class ClusterSettings:
    settings: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    """For the Java process of the driver."""
    secrets: dict[str, str] = field(default_factory=dict)
    """Settings that nobody else is to see."""


def cluster_settings(master: str, slots_needed: int) -> ClusterSettings:
    """For `spark://…`, `yarn` and `k8s://…`; what else these need is for spark-defaults.conf."""
    settings = {**_ON_ANY_CLUSTER, **application_settings()}
    # Hosts have their Python in different places; a follower has its own first on its PATH.
    environment = {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", "python3")}
    if not master.startswith("spark://"):
        if given := os.environ.get("SPARK_LOCAL_IP"):
            settings |= {"spark.driver.host": given, "spark.driver.bindAddress": given}
        if pod := os.environ.get(LAUNCHER_POD_VARIABLE):
            # Its executors are then its own: Kubernetes removes them with it.
            settings["spark.kubernetes.driver.pod.name"] = pod
        # Spark would start two executors, whatever is needed. The secret it makes by itself here.
        settings |= {**SECURE, "spark.executor.instances": str(slots_needed)}
        return ClusterSettings(settings, environment)
    host, port = _address(master)
    check_listening(host, port, _CONNECT_DEADLINE_S)
    own = own_address(host, port)
    settings |= {"spark.driver.host": own, "spark.driver.bindAddress": own}
    return ClusterSettings({**settings, **SECURE}, environment, {"spark.authenticate.secret": find_secret()})


def launcher_address(master: str) -> str | None:
    """This host's address towards a cluster; None when agents run on this host."""
    if local_slots(master) is not None:
        return None
    if given := os.environ.get("SPARK_LOCAL_IP"):
        return given
    return own_address(*_address(master)) if master.startswith("spark://") else own_address()


def slots_within_deadline(session: SparkSession, needed: int) -> int:
    """How many tasks can run at once, as soon as there are enough; else after some time."""
    deadline = time.monotonic() + _EXECUTORS_DEADLINE_S
    before, before_s = -1, time.monotonic()
    while True:
        slots = concurrent_slots(session)
        if slots != before:
            before, before_s = slots, time.monotonic()
        # Those that come, come together: some seconds after the last one nobody will.
        is_settled = slots > 0 and time.monotonic() - before_s > _SETTLED_S
        if slots >= needed or is_settled or time.monotonic() > deadline:
            return slots
        time.sleep(_LOOK_S)


def settled_slots(session: SparkSession) -> int:
    """The same when all have come that will: where hosts have names, the first ones may be the wrong ones."""
    return slots_within_deadline(session, sys.maxsize)


def check_anybody_came(slots: int, master: str, own: str | None) -> None:
    """Unreachable when there is not a single slot: hosts without room are another matter."""
    if slots == 0:
        here = f"this host ({own})" if own else "this host"
        raise Unreachable(
            f"--master {master}: no follower took the run within {_EXECUTORS_DEADLINE_S:g} s; are there any, "
            f"are they free, and do they reach {here} on every port? A firewall between, or a full disk "
            "there, looks like this"
        )


@contextmanager
def slots_watched(session: SparkSession) -> Iterator[None]:
    """Spark waits for ever for hosts that are gone; when none is left for some time, its jobs are ended."""
    ended = threading.Event()

    def watch() -> None:
        last_seen_s = time.monotonic()
        while not ended.wait(_WATCH_S):
            with suppress(Py4JError, OSError):
                if concurrent_slots(session) > 0:
                    last_seen_s = time.monotonic()
                elif time.monotonic() - last_seen_s > _GONE_S:
                    session.sparkContext.cancelAllJobs()

    watching = threading.Thread(target=watch, name="slot-watch", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()


def concurrent_slots(session: SparkSession) -> int:
    """How many tasks can run at once."""
    context: Any = session.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def _address(master: str) -> tuple[str, int]:
    # A standby master's address may follow after a comma.
    try:
        parts = urlsplit(master.partition(",")[0])
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadInput(f"--master {master}: {error}; it is spark://HOST:PORT") from error
    if not host:
        raise BadInput(f"--master {master}: there is no host in it; it is spark://HOST:PORT")
    return host, port or STANDALONE_PORT
