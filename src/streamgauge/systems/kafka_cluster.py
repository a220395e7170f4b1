"""A Kafka cluster on this machine: 1, 3 or 5 brokers, KRaft, from jars alone.

Every node is broker and controller. A start formats one data folder with Kafka's
StorageTool and copies it for the other nodes, whose folders differ only in two ids.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Event

from streamgauge.core.errors import BadInput, SystemFailed, Unreachable
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.java_properties import render
from streamgauge.core.outside import LOGIN, RUN_USER, Outside, with_port
from streamgauge.core.scratch import ScratchFolder
from streamgauge.jvm.class_archive import FIRST_WITH_PROFILES, ClassArchive
from streamgauge.jvm.jars import classpath, fetch, locked_version
from streamgauge.jvm.java import LIGHT, Java, find_java
from streamgauge.systems import kafka_properties
from streamgauge.systems.contract import START_DEADLINE_S, System
from streamgauge.systems.disks import Disks
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.kafka_locks import TOKEN_ENDPOINT, KafkaLocks
from streamgauge.systems.kafka_priming import Primed, prime_kafka
from streamgauge.systems.kafka_properties import Node
from streamgauge.systems.kafka_rights import Right
from streamgauge.systems.kafka_security import SecurityKind
from streamgauge.systems.kafka_training import train
from streamgauge.systems.links import Links
from streamgauge.systems.members import Members
from streamgauge.systems.ports import HOST
from streamgauge.systems.processes import STOP_DEADLINE_S, end, how_it_ended, log_text, spawn, why_it_ended

DATA_PREFIX = "streamgauge-kafka-"
_PORT_ATTEMPTS = 3
_FORMAT_DEADLINE_S = 60.0
_POLL_S = 0.05
_LEAVING_ARCHIVE_S = 40.0
_STARTED = "Kafka Server started"
_PORT_TAKEN = "Address already in use"

# As in Kafka's own start script.
_GC = (
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
_LOGGING = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
)
# The format tool lives for a second: compiling for speed and a large heap are lost on it.
_SHORT_LIVED = (*LIGHT, "-Xmx256m")


def _java() -> Java:
    """One whose archives keep what was learnt, if there is one: it is at rest in a third of the time."""
    return find_java(preferred=FIRST_WITH_PROFILES)


class KafkaCluster(System):
    """Brokers on 127.0.0.1 with a fresh, temporary data folder.

    Brokers die with the process that called `launch` (see `processes.spawn`), unless
    `dies_with_parent` is off; then whoever starts them has to see to their end.
    """

    has_members = has_links = has_disks = True

    def __init__(
        self,
        *,
        log_dir: Path,
        brokers: int = 1,
        data_dir: Path | None = None,
        properties: Mapping[str, str] | None = None,
        heap: str | None = None,
        java_options: Sequence[str] = (),
        security: Sequence[SecurityKind] = (),
        acls: bool = False,
        without: Sequence[Right] = (),
        dies_with_parent: bool = True,
        is_training: bool = False,
    ) -> None:
        """`data_dir`: below which folder (on which disk) the data go; else the system's temporary one.
        `properties`: broker properties to add or replace. `heap`: as in -Xmx; `java_options`: behind ours.
        `security`: ways to get in, each a listener; none: whoever is on this machine does. `acls`: clients
        may do what a run needs and nothing else, `without`: not even that.
        `is_training`: it runs only for what its Java then knows (see kafka_training)."""
        kafka_properties.check_brokers(brokers)
        kafka_properties.check_overrides(properties or {})
        self.brokers = brokers
        self.log_dir = log_dir.absolute()
        self.heap = heap or ("1g" if brokers == 1 else "512m")
        self._java_options = tuple(java_options)
        self._data_parent, self._overrides = data_dir, dict(properties or {})
        self._dies_with_parent, self._is_training = dies_with_parent, is_training
        self._locks = (
            KafkaLocks(security, acls=acls, without=without) if security or acls or without else None
        )
        self._data: ScratchFolder | None = None
        self._nodes: list[Node] = []
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._archive: ClassArchive | None = None
        self._came_up = False
        self._primed: Primed | None = None
        self._members: Members | None = None
        self._equipment = Equipment()
        self._links: Links | None = None
        self._disks: Disks | None = None
        self.outside: Outside | None = None
        """To be set before the launch: who brings the token gets in at this address, too."""

    def equip(self, wanted: Equipment) -> None:
        if wanted.links and self._locks is not None:
            raise BadInput("load.faults: links have no locks: faults of links need a system without security")
        self._equipment = wanted

    def launch(self) -> None:
        """Fetch the jars (first time only), format the data folders, start the brokers."""
        if self._running:
            raise SystemFailed("this Kafka cluster is already running; stop it first")
        java, jars = _java(), fetch("kafka")
        self._java, self._classpath = str(java.executable), classpath(jars)
        self._archive = ClassArchive("kafka", java, jars, _GC)
        if self._archive.has_profiles and not self._is_training:
            train(self._archive, lambda logs: KafkaCluster(log_dir=logs, is_training=True))
        try:
            self._data = ScratchFolder(DATA_PREFIX, self._data_parent or temporary_folder())
            self._nodes = kafka_properties.new_nodes(
                self.brokers, len(self._locks.kinds) if self._locks else 0
            )
            self._prepare_locks(self._data)
            if self._equipment.links:
                self._links = Links(
                    {node.name: (self._agents_host, node.outside_port) for node in self._nodes}
                )
            if self._equipment.disks:
                self._disks = Disks(self._data.path / "disks", [node.name for node in self._nodes])
            for node in self._nodes:
                self._properties_file(node).write_text(render(self._properties(node)))
            self._format()
            for node in self._nodes:
                self._running[node.name] = self._start_broker(node)
        except BaseException:
            self.stop()
            raise

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        """A broker logs that it started only after the controllers have registered and unfenced it."""
        until, attempt = time.monotonic() + deadline_s, 1
        waiting = list(self._nodes)
        if not waiting:
            raise SystemFailed("this Kafka cluster was not launched")
        while waiting:
            if dead := self._first_dead():
                if attempt == _PORT_ATTEMPTS or not self._lost_a_port(dead):
                    reason = why_it_ended(self._running[dead.name], self.log_file(dead.name))
                    self.stop()
                    raise SystemFailed(f"{dead.name} of the Kafka cluster ended at start: {reason}")
                attempt += 1
                self.stop()
                self.launch()
                waiting = list(self._nodes)
            waiting = [node for node in waiting if not self._is_ready(node)]
            if waiting and time.monotonic() > until:
                late = waiting[0].name
                self.stop()
                raise Unreachable(
                    f"{late} of the Kafka cluster was not ready after {deadline_s:g} s; "
                    f"see {self.log_file(late)}"
                )
            if waiting:
                time.sleep(_POLL_S)
        if self._locks is not None:
            self._locks.open(self._nodes)
        self._came_up = True

    def prime(self, is_over: Event) -> None:
        """A launch that has to be done again, for its ports were taken meanwhile, is not primed."""
        nodes = self._nodes
        until = time.monotonic() + START_DEADLINE_S
        while nodes and not all(map(self._is_ready, nodes)):
            if is_over.wait(_POLL_S) or nodes is not self._nodes or time.monotonic() > until:
                return
        if nodes:
            self._primed = prime_kafka(self._own_connection(), self.brokers, is_over)

    def _own_connection(self) -> dict[str, str]:
        """In librdkafka's words, for whoever may do everything."""
        if self._locks is not None:
            return self._locks.security.admin_connection(self._nodes)
        return {"bootstrap.servers": self.endpoints()["bootstrap"]}

    def endpoints(self) -> dict[str, str]:
        if self._locks is not None:
            return self._locks.endpoints(self._nodes)
        return {"bootstrap": ",".join(f"{HOST}:{node.client_port}" for node in self._nodes)}

    def agents_endpoints(self) -> dict[str, str]:
        if self.outside is None and self._links is None:
            return {}
        ports = [self._links.ports[n.name] if self._links else n.outside_port for n in self._nodes]
        places = {"bootstrap": ",".join(with_port(self._agents_host, port) for port in ports)}
        return places if self.outside is None else {**places, f"bootstrap{LOGIN}": RUN_USER}

    @property
    def _agents_host(self) -> str:
        return HOST if self.outside is None else self.outside.address

    def processes(self) -> dict[str, int]:
        own = {name: process.pid for name, process in self._running.items()}
        return own if self._locks is None else own | self._locks.processes()

    def members(self) -> Members:
        if self._members is None:
            self._members = Members(
                self._running,
                lambda name: self._start_broker(self._node(name)),
                lambda name: self._is_ready(self._node(name)),
                self.log_file,
                lambda: {node.name: self.data_folder / node.name for node in self._nodes},
            )
        return self._members

    @property
    def client_files(self) -> dict[str, str]:
        """By way in: what clients need for it, as Java's client properties; for their owner only."""
        return {} if self._locks is None else self._locks.client_files()

    def links(self) -> Links | None:
        return self._links

    def disks(self) -> Disks | None:
        return self._disks

    def ended(self) -> str | None:
        if self._locks is not None and self._locks.ended():
            return f"the token endpoint of the Kafka cluster ended; see {self.log_file(TOKEN_ENDPOINT)}"
        if (dead := self._first_dead()) is None:
            return None
        how = how_it_ended(self._running[dead.name], self.log_file(dead.name))
        return f"{dead.name} of the Kafka cluster ended: {how}"

    def log_file(self, name: str) -> Path:
        return self.log_dir / f"{name}.log"

    def description(self) -> str:
        """With what an ack is worth: Kafka leaves syncing to the system, unless it is told to flush."""
        flushes = any(name.startswith("log.flush.") for name in self._overrides)
        synced = "synced as log.flush.* says" if flushes else "synced when the operating system flushes"
        locked = "" if self._locks is None else f", {self._locks.words()}"
        brokers = "1 broker" if self.brokers == 1 else f"{self.brokers} brokers"
        return f"embedded Apache Kafka, {brokers}, {synced}{locked}"

    def settings(self) -> dict[str, object]:
        """What is in force, for the run's environment.json."""
        return {
            "kafka": locked_version("kafka", "kafka_2.13"),
            "java": _java().version,
            "brokers": self.brokers,
            "jvm": self._jvm_flags(),
            "class_archive": "used" if self._archive is not None and self._archive.is_made else "none",
            "primed": None if self._primed is None else asdict(self._primed),
            "properties": {node.name: self._properties(node) for node in self._nodes},
        }

    @property
    def data_folder(self) -> Path:
        """All data of all brokers; gone after `stop`."""
        if self._data is None:
            raise SystemFailed("this Kafka cluster was not launched")
        return self._data.path

    def stop(self) -> None:
        try:
            for name in list(self._members.paused if self._members else ()):
                self.members().unpause(name)  # who stands still does not hear that it is to end
            end(self._running.values(), self._stop_deadline_s())
        finally:
            if self._locks is not None:
                self._locks.stop()
            self._keep_archive()
            self._running, self._nodes, self._members = {}, [], None
            if self._links is not None:
                self._links.close()
                self._links = None
            if self._disks is not None:
                self._disks.close()
                self._disks = None
            if self._data is not None:
                self._data.remove()
                self._data = None

    def halt(self) -> None:
        """End the brokers as an outage does: their data and addresses stay, for `resume`."""
        end(self._running.values(), self._stop_deadline_s())
        self._keep_archive()

    def resume(self, deadline_s: float = START_DEADLINE_S) -> None:
        """Start halted brokers again, on the same data and addresses, and wait until they are ready."""
        for node in self._nodes:
            self._running[node.name] = self._start_broker(node)
        self.wait_ready(deadline_s)

    def release(self) -> None:
        """Let the brokers run on when this object goes; only for `dies_with_parent=False`."""
        for process in self._running.values():
            process.returncode = 0  # Else Popen warns of a child nobody waited for.
        self._running = {}
        if self._locks is not None:
            self._locks.release()

    def _prepare_locks(self, data: ScratchFolder) -> None:
        if self._locks is not None:
            log = self.log_file(TOKEN_ENDPOINT)
            self._locks.prepare(
                data.path, self._nodes, log, dies_with_parent=self._dies_with_parent, lock_fd=data.lock_fd
            )

    def _jvm_flags(self) -> list[str]:
        own = () if self._locks is None else self._locks.security.java_options()
        return [f"-Xms{self.heap}", f"-Xmx{self.heap}", *_GC, *_LOGGING, *own, *self._java_options]

    def _properties_file(self, node: Node) -> Path:
        return self.data_folder / f"{node.name}.properties"

    def _properties(self, node: Node) -> dict[str, str]:
        data = self.data_folder / node.name
        security = None if self._locks is None else self._locks.security
        link_port = None if self._links is None else self._links.ports[node.name]
        return kafka_properties.server_properties(
            node, self._nodes, data, self._overrides, self.outside, security, link_port
        )

    def _format(self) -> None:
        first, *others = self._nodes
        voters = ",".join(node.initial_controller for node in self._nodes)
        assert self._archive is not None
        # What the brokers left behind holds most of what the tool loads.
        java = [self._java, *_SHORT_LIVED, *self._archive.use(), "-cp", self._classpath]
        tool = [*java, "kafka.tools.StorageTool", "format"]
        arguments = ["-t", kafka_properties.new_uuid(), "--initial-controllers", voters]
        if self._locks is not None:
            arguments += self._locks.security.format_arguments()
        log = self.log_file("format")
        process = spawn(
            [*tool, *arguments, "-c", str(self._properties_file(first))], log, dies_with_parent=True
        )
        try:
            process.wait(_FORMAT_DEADLINE_S)
        except subprocess.TimeoutExpired as error:
            raise SystemFailed(
                f"formatting Kafka's data folder took over {_FORMAT_DEADLINE_S:.0f} s; see {log}"
            ) from error
        finally:
            end([process], deadline_s=0.0)
        if process.returncode != 0:
            raise SystemFailed(f"Kafka's data folder could not be formatted: {why_it_ended(process, log)}")
        formatted = self.data_folder / first.name
        for node in others:
            shutil.copytree(formatted, self.data_folder / node.name)
            meta = self.data_folder / node.name / "meta.properties"
            meta.write_text(kafka_properties.with_identity(meta.read_text(), node))

    def _start_broker(self, node: Node) -> subprocess.Popen[bytes]:
        assert self._data is not None
        command = [self._java, *self._jvm_flags(), *self._archived(node), "-cp", self._classpath]
        return spawn(
            [*command, "kafka.Kafka", str(self._properties_file(node))],
            self.log_file(node.name),
            dies_with_parent=self._dies_with_parent,
            pass_fds=[self._data.lock_fd],
            environment=None
            if self._disks is None
            else {**os.environ, **self._disks.environment(node.name, self.data_folder / node.name)},
        )

    def _archived(self, node: Node) -> list[str]:
        """The first broker leaves its classes for all; of one that outlives us nobody would keep them. What
        its Java learns besides is left by one that is there for nothing else."""
        assert self._archive is not None
        is_for_it = self._is_training or not self._archive.has_profiles
        makes_it = is_for_it and self._dies_with_parent and node is self._nodes[0]
        return self._archive.use_or_make() if makes_it else self._archive.use()

    def _stop_deadline_s(self) -> float:
        is_leaving_it = self._archive is not None and self._archive.is_in_the_making
        return _LEAVING_ARCHIVE_S if is_leaving_it else STOP_DEADLINE_S

    def _keep_archive(self) -> None:
        """Of a broker that came up; one that did not had few classes to leave."""
        if self._archive is not None and self._nodes:
            first = self._running.get(self._nodes[0].name)
            self._archive.keep(first.returncode if first is not None and self._came_up else None)
        self._came_up = False

    def _first_dead(self) -> Node | None:
        planned = self._members.may_be_gone if self._members is not None else ()
        return next(
            (n for n in self._nodes if n.name not in planned and self._running[n.name].poll() is not None),
            None,
        )

    def _node(self, name: str) -> Node:
        return next(node for node in self._nodes if node.name == name)

    def _lost_a_port(self, dead: Node) -> bool:
        """Somebody took a port between our choosing it and Kafka's binding it."""
        return _PORT_TAKEN in log_text(self.log_file(dead.name))

    def _is_ready(self, node: Node) -> bool:
        if _STARTED not in log_text(self.log_file(node.name)):
            return False
        try:
            socket.create_connection((HOST, node.client_port), timeout=1.0).close()
        except OSError:
            return False
        return True
