"""What a target runs against: its own cluster, the one that `cluster up` left running, or one elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.core.errors import StreamgaugeError
from streamgauge.spec.secrets import environment_of, fill_in, strike_out
from streamgauge.spec.target import (
    AeronMediaDriverSystem,
    KafkaClusterSystem,
    NatsServerSystem,
    RabbitMqServerSystem,
    RedisServerSystem,
    SystemSpec,
    Target,
)
from streamgauge.systems import local_cluster
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from streamgauge.systems.contract import System
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.local_cluster import LocalCluster
from streamgauge.systems.nats_server import NatsServer
from streamgauge.systems.rabbitmq_server import RabbitMqServer
from streamgauge.systems.redis_server import RedisServer


@dataclass
class TargetSystem:
    """Endpoints and processes, wherever they come from."""

    description: str
    endpoints: dict[str, str] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ended: Callable[[], str | None] = lambda: None
    """Which process of it is gone though nobody stopped it, and why; None: none that we know of."""


class LaunchedSystem:
    """A system on its way up: something else can be started before `wait` is called."""

    def __init__(self, target: Target, log_dir: Path) -> None:
        self._log_dir, self._environment = log_dir, environment_of(target)
        self._target = fill_in(target, self._environment)
        self._system: System | None = None
        self._found: TargetSystem | None = None

    def launch(self) -> None:
        wanted = self._target.system
        if wanted is None:
            self._found = TargetSystem("given by the target")
            return
        running = local_cluster.status() if isinstance(wanted, KafkaClusterSystem) else None
        if running is not None and _is_wanted(running, wanted):
            self._found = TargetSystem(
                "local cluster (streamgauge cluster up)",
                {"bootstrap": running.bootstrap},
                {name: process.pid for name, process in running.processes.items()},
                ended=running.ended,
            )
            return
        self._system = _system(wanted, self._log_dir)
        with self._without_secrets():
            self._system.launch()

    def wait(self) -> TargetSystem:
        if self._found is None:
            assert self._system is not None
            with self._without_secrets():
                self._system.wait_ready()
            self._found = TargetSystem(
                self._system.description(),
                self._system.endpoints(),
                self._system.processes(),
                self._system.settings(),
                ended=self._system.ended,
            )
        return self._found

    def stop(self) -> None:
        if self._system is not None:
            self._system.stop()

    @contextmanager
    def _without_secrets(self) -> Iterator[None]:
        """A server tells what it does not like about its configuration."""
        try:
            yield
        except StreamgaugeError as error:
            raise type(error)(strike_out(str(error), self._environment)) from None


@contextmanager
def launched(target: Target, log_dir: Path) -> Iterator[LaunchedSystem]:
    """Launched on entry, stopped on the way out whatever happens."""
    system = LaunchedSystem(target, log_dir)
    try:
        system.launch()
        yield system
    finally:
        system.stop()


def _system(wanted: SystemSpec, log_dir: Path) -> System:
    properties = {key: _property(value) for key, value in wanted.properties.items()}
    if isinstance(wanted, AeronMediaDriverSystem):
        return AeronMediaDriver(log_dir=log_dir, profile=wanted.profile, properties=properties)
    if isinstance(wanted, NatsServerSystem):
        return NatsServer(log_dir=log_dir, properties=properties)
    if isinstance(wanted, RabbitMqServerSystem):
        return RabbitMqServer(log_dir=log_dir, properties=properties)
    if isinstance(wanted, RedisServerSystem):
        return RedisServer(log_dir=log_dir, properties=properties)
    return KafkaCluster(log_dir=log_dir, brokers=wanted.brokers, properties=properties)


def _is_wanted(running: LocalCluster, wanted: SystemSpec) -> bool:
    return (
        isinstance(wanted, KafkaClusterSystem) and running.brokers == wanted.brokers and not wanted.properties
    )


def _property(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
