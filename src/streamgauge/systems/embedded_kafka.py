"""The Kafka that we start: the local cluster if it is up and as wanted, else one for the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import temporary_root
from streamgauge.core.outside import Outside
from streamgauge.spec.reach import JavaOptions
from streamgauge.spec.system import SystemSpec
from streamgauge.systems import local_cluster
from streamgauge.systems.contract import START_DEADLINE_S, Standing, System
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_locks import KafkaLocks
from streamgauge.systems.kafka_rights import Right
from streamgauge.systems.kafka_security import SecurityKind
from streamgauge.systems.local_cluster import LocalCluster


class KafkaClusterSpec(SystemSpec):
    """An embedded Apache Kafka, started for the run and stopped after it."""

    kind: Literal["kafka_cluster"] = "kafka_cluster"
    brokers: int = Field(default=1, ge=1, le=5)

    heap: str | None = Field(default=None, pattern=r"^[1-9][0-9]*[kmgKMG]$")
    """Of each broker, as in -Xmx: 2g; by default 1g for one broker, 512m for several."""
    java_options: JavaOptions = ()
    """More of Java's, behind ours."""
    security: tuple[SecurityKind, ...] = ()
    """Ways in, each with certificates and secrets of its own; clients of a run take the first."""
    acls: bool = False
    """Clients may do what a run needs, and nothing else."""
    without: tuple[Right, ...] = ()
    """Rights that they do not have though a run needs them: to see what comes of it."""

    @field_validator("security", "without", mode="before")
    @classmethod
    def _one_is_a_list(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @model_validator(mode="after")
    def _locks_fit(self) -> KafkaClusterSpec:
        try:
            KafkaLocks(self.security, acls=self.acls, without=self.without)
        except BadInput as error:
            raise ValueError(str(error)) from None
        return self

    @field_validator("java_options")
    @classmethod
    def _options(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        for option in options:
            if not option.startswith("-") or option.startswith(("-cp", "-jar", "--class-path", "-classpath")):
                raise ValueError(f"{option!r} is no option of Java's for a broker; as in -XX:+UseZGC")
            if option.startswith(("-Xmx", "-Xms")):
                raise ValueError(f"{option!r}: say heap: instead")
        return options

    @field_validator("brokers")
    @classmethod
    def _odd(cls, brokers: int) -> int:
        if brokers % 2 == 0:
            raise ValueError(f"{brokers} brokers cannot form a quorum well; allowed: 1, 3 or 5")
        return brokers

    @property
    def most_replicas(self) -> int:
        return self.brokers

    @property
    def is_locked(self) -> bool:
        return bool(self.security)

    @property
    def process_count(self) -> int:
        return self.brokers


class EmbeddedKafka(KafkaCluster):
    spec_model = KafkaClusterSpec
    is_default = True

    @classmethod
    def log_folder(cls) -> Path:
        """On which disk messages are kept; that of the local cluster is taken to be the same."""
        return temporary_root()

    @classmethod
    def standing(cls) -> Standing:
        return local_cluster

    @classmethod
    def of(
        cls, wanted: SystemSpec, log_dir: Path, outside: Outside | None = None, *, is_own: bool = False
    ) -> System:
        assert isinstance(wanted, KafkaClusterSpec)
        if outside is not None:
            if wanted.security:
                raise BadInput(
                    "system.security: its certificates and files are for this host, and agents of this run "
                    "may be on others; leave out --master, or give a cluster of your own"
                )
            # The local cluster is for this host alone.
            made = super().of(wanted, log_dir)
            assert isinstance(made, KafkaCluster)
            made.outside = outside
            return made
        running = None if is_own else local_cluster.status()
        is_plain = not (wanted.properties or wanted.heap or wanted.java_options)
        if running is None or running.brokers != wanted.process_count or not is_plain:
            return super().of(wanted, log_dir)
        if not running.is_locked_as(wanted.security, acls=wanted.acls, without=wanted.without):
            return super().of(wanted, log_dir)
        return ClusterInUse(running)


class ClusterInUse(System):
    """The local cluster as a target's system: it was up before, and stays up."""

    outlives_us = True

    def __init__(self, state: LocalCluster) -> None:
        self._state = state

    def launch(self) -> None: ...

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None: ...

    def stop(self) -> None: ...

    def endpoints(self) -> dict[str, str]:
        return self._state.endpoints()

    def processes(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._state.processes.items()}

    def ended(self) -> str | None:
        return self._state.ended()

    def description(self) -> str:
        return "local cluster (streamgauge cluster up)"
