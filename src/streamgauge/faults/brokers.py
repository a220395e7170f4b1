"""Faults of single brokers: killed, paused, restarted, and an election that loses what was acknowledged."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Literal

from pydantic import Field

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.faults.contract import Ending, Fault, Scene
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec

LEADER, CONTROLLER = "leader", "controller"
_LOOK_S = 0.1
_SHRINK_DEADLINE_S = 60.0


class BrokerSpec(FaultSpec):
    broker: str = Field(default=LEADER, pattern=rf"^({LEADER}|{CONTROLLER}|broker-[1-9][0-9]*)$")
    """Whom: the leader of a partition, the leader of the controllers, or one by its name."""
    partition: int = Field(default=0, ge=0)
    """Of the first topic; whose leader."""


class BrokerKillSpec(BrokerSpec):
    kind: Literal["broker_kill"] = "broker_kill"


class BrokerPauseSpec(BrokerSpec):
    kind: Literal["broker_pause"] = "broker_pause"


class BrokerRestartSpec(BrokerSpec):
    kind: Literal["broker_restart"] = "broker_restart"


class UncleanElectionSpec(FaultSpec):
    kind: Literal["unclean_election"] = "unclean_election"
    partition: int = Field(default=0, ge=0)


class ControllerLossSpec(FaultSpec):
    kind: Literal["controller_loss"] = "controller_loss"


class OfABroker(Fault):
    """Of one that is chosen when it happens."""

    _name: str | None = None

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        return super().why_impossible(spec, case) or why_no_broker(spec, case)

    def _choose(self) -> str:
        """Decided when it happens: who leads then."""
        assert isinstance(self.spec, BrokerSpec)
        self._name = chosen(self.scene, self.spec.broker, self.spec.partition)
        return self._name


class _TakenDown(OfABroker):
    """What is down in the end is started again, on its own data."""

    def end(self) -> None:
        if self._name is not None:
            self.scene.own_members().start_again(self._name)


class BrokerKill(_TakenDown):
    spec_model = BrokerKillSpec
    words = "kill -9 of a broker; after `for` it is started again on its data"
    needs = "a Kafka cluster that the run starts (system: {brokers: 3})"

    def begin(self) -> str:
        name = self._choose()
        self.scene.own_members().kill(name)
        return name


class BrokerPause(OfABroker):
    spec_model = BrokerPauseSpec
    words = "a broker stands still (SIGSTOP) with all its connections open, and goes on after `for`"
    needs = "a Kafka cluster that the run starts (system: {brokers: 3})"

    def begin(self) -> str:
        name = self._choose()
        self.scene.own_members().pause(name)
        return name

    def end(self) -> None:
        if self._name is not None:
            self.scene.own_members().unpause(self._name)


class BrokerRestart(_TakenDown):
    spec_model = BrokerRestartSpec
    words = "a broker is stopped as an operator does it (SIGTERM), and started again after `for`, or at once"
    needs = "a Kafka cluster that the run starts (system: {brokers: 3})"
    ending = Ending.AT_ONCE

    def begin(self) -> str:
        name = self._choose()
        self.scene.own_members().stop(name)
        return name


class ControllerLoss(_TakenDown):
    """Every node of the embedded cluster is broker and controller: its partitions lose their leader, too."""

    spec_model = ControllerLossSpec
    words = "kill -9 of the active controller, so that the others elect one; after `for` it is started again"
    needs = "a Kafka cluster of at least 3 that the run starts (system: {brokers: 3})"

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        assert case.target.system is not None
        if case.target.system.process_count < 3:
            return "load.faults: controller_loss: nobody is left to elect another; needs system.brokers: 3"
        return None

    def begin(self) -> str:
        self._name = chosen(self.scene, CONTROLLER, 0)
        self.scene.own_members().kill(self._name)
        return self._name


class UncleanElection(_TakenDown):
    """The follower stands still until it is out of sync; then the leader is killed, and it goes on."""

    spec_model = UncleanElectionSpec
    words = "a replica that is behind becomes leader: what only the killed leader had is lost"
    needs = (
        "system: {brokers: 3}, topics: {replicas: 2, config: {unclean.leader.election.enable: 'true'}}, "
        "and acks: 1, or min.insync.replicas 1"
    )

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        assert case.target.system is not None
        topics = case.load.topics
        if topics.config.get("unclean.leader.election.enable") != "true":
            return (
                "load.faults: unclean_election: needs topics.config: {unclean.leader.election.enable: 'true'}"
            )
        if topics.replicas != 2 or case.target.system.process_count < 3:
            # With more replicas paused the controllers have no majority, and nobody is ever out of sync.
            return "load.faults: unclean_election: needs topics.replicas: 2 on at least 3 brokers"
        return None

    def begin(self) -> str:
        members, partition = self.scene.own_members(), getattr(self.spec, "partition", 0)
        leader = leader_of(self.scene, partition)
        state = self.scene.driver.partition_state(self.scene.case.topics[0], partition)
        followers = [name for name in state.replicas if name != leader]
        for name in followers:
            members.pause(name)
        try:
            until = time.monotonic() + _SHRINK_DEADLINE_S
            while set(self.scene.driver.partition_state(self.scene.case.topics[0], partition).in_sync) != {
                leader
            }:
                if time.monotonic() > until:
                    raise CaseFailed(
                        f"{', '.join(followers)} stayed in sync for {_SHRINK_DEADLINE_S:g} s while paused; "
                        "lower the broker property replica.lag.time.max.ms"
                    )
                time.sleep(_LOOK_S)
            self._name = leader
            self.counts_from_ns = now_ns()
            members.kill(leader)
        finally:
            for name in followers:
                members.unpause(name)
        return f"{leader}, with {', '.join(followers)} behind"


def why_no_broker(spec: FaultSpec, case: Case) -> str | None:
    """Why there is nobody of this name, or no such partition to have a leader."""
    assert case.target.system is not None
    count = case.target.system.process_count
    wanted, partition = getattr(spec, "broker", LEADER), getattr(spec, "partition", 0)
    if wanted.startswith("broker-") and int(wanted.removeprefix("broker-")) > count:
        return f"load.faults: {spec.kind}: there is no {wanted}: target {case.target.name} has {count}"
    if partition >= case.load.topics.partitions:
        return f"load.faults: {spec.kind}: there is no such partition of {case.load.topics.partitions}"
    return None


def chosen(scene: Scene, wanted: str, partition: int) -> str:
    """Who that is now, of those that this run started."""
    name = wanted
    if wanted == LEADER:
        name = leader_of(scene, partition)
    elif wanted == CONTROLLER:
        name = controller_of(scene)
    if name not in scene.own_members().names:
        raise BadInput(f"{name} is no broker that this run started")
    return name


def leader_of(scene: Scene, partition: int) -> str:
    return scene.driver.partition_state(scene.case.topics[0], partition).leader


def controller_of(scene: Scene) -> str:
    """By what the controllers themselves wrote of their vote: clients are told of any broker at random."""
    newest = (-1, -1)
    for folder in scene.own_members().data_folders.values():
        newest = max(newest, _vote(folder))
    if newest[1] < 0:
        raise CaseFailed("no controller of the cluster has written whom they elected")
    return f"broker-{newest[1]}"


def _vote(folder: Path) -> tuple[int, int]:
    """Epoch and leader, of one controller's word."""
    try:
        said = json.loads((folder / "__cluster_metadata-0" / "quorum-state").read_text())
        return int(said["leaderEpoch"]), int(said["leaderId"])
    except (OSError, ValueError, KeyError):
        return -1, -1
