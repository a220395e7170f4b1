"""How many producers, consumers and brokers a wanted rate of messages takes."""

from __future__ import annotations

from streamgauge.core.units import counted, format_bytes, format_rate
from streamgauge.sizing.costs import Costs
from streamgauge.sizing.fitting import Estimate
from streamgauge.sizing.loads import LINGER_S, MessageLoad
from streamgauge.sizing.planning import BITS, Host, Need, SizePlan, fewest_processes, size_plan

_ROUNDS = 60
_COUNTS = {"producer": "producers", "consumer": "consumers", "broker": "brokers"}
_LEAST_PARTITIONS = 4


def plan_messages(wanted: MessageLoad, acks: str, costs: Costs, host: Host) -> SizePlan:
    load = _dealt_out(wanted, costs, host)
    took = {
        name: needed(load, costs, name) for name in _QUANTITIES if load.consumers or "consumer" not in name
    }
    hop_bits = took["network_bytes_per_s"].times(BITS / load.hops)
    reads = 1 if load.consumers else 0
    events = took["events_bytes_per_s"]
    flows = {
        "producer": (1, 0, events.times(1.0 if not reads else 0.5)),
        "consumer": (0, 1, events.times(0.5)),
        "broker": (load.replicas - 1 + reads, load.replicas, took["broker_disk_bytes_per_s"]),
    }
    needs = [
        Need(
            role=role,
            processes=getattr(load, count),
            cores=took[f"{role}_cores"],
            memory_bytes=took[f"{role}_memory_bytes"],
            sent_bits_per_s=hop_bits.times(flows[role][0]),
            received_bits_per_s=hop_bits.times(flows[role][1]),
            disk_bytes_per_s=flows[role][2],
        )
        for role, count in _COUNTS.items()
        if getattr(load, count)
    ]
    named = (
        f"{format_rate(load.rate_per_s)} of {format_bytes(load.size_bytes)}, acks {acks}, "
        f"{counted(load.replicas, 'replica')}"
    )
    plan = size_plan(named, needs, host, costs, _notes(load, acks, events))
    brokers = next(part.processes for part in plan.parts if part.role == "broker")
    if brokers > load.brokers:
        # Their hosts' networks want more of them than their cores do, and each of them wants a partition.
        return plan_messages(wanted.model_copy(update={"brokers": brokers}), acks, costs, host)
    return plan


def needed(load: MessageLoad, costs: Costs, quantity: str) -> Estimate:
    """What a load takes of one thing, all processes together."""
    return costs.of_messages(quantity).at(load.causes(quantity))


_QUANTITIES = (
    "network_bytes_per_s",
    "broker_disk_bytes_per_s",
    "events_bytes_per_s",
    *(f"{role}_{what}" for role in _COUNTS for what in ("cores", "memory_bytes")),
)


def _notes(load: MessageLoad, acks: str, events: Estimate) -> list[str]:
    notes = [
        f"{load.partitions} partitions; producers gather messages for {LINGER_S * 1000:g} ms, uncompressed",
        f"the run folder grows by {format_bytes(events.value * 60)} of events a minute",
    ]
    if load.replicas > 1:
        notes.append("a further replica was taken to cost brokers what the first one does")
    if acks == "0":
        notes.append("without acks brokers have less to answer: what they take here is an upper end")
    return notes


def _dealt_out(wanted: MessageLoad, costs: Costs, host: Host) -> MessageLoad:
    """The fewest processes of which none does more than it should; they depend on each other, since every
    producer sends to every partition, and every consumer and broker wants one."""
    load = wanted.model_copy(update={"brokers": max(wanted.brokers, wanted.replicas)})
    for _ in range(_ROUNDS):
        before = load
        for role, count in _COUNTS.items():
            if getattr(load, count):
                load = load.model_copy(update={count: _count(load, role, costs, host)})
        partitions = max(_LEAST_PARTITIONS, load.consumers, load.brokers, load.partitions)
        load = load.model_copy(update={"partitions": partitions})
        if load == before:
            break
    return load


def _count(load: MessageLoad, role: str, costs: Costs, host: Host) -> int:
    """Never fewer than before, so that this comes to an end."""
    field = _COUNTS[role]
    each_cores = host.fill * (host.cores if role == "broker" else 1)

    def cores_of(count: int) -> Estimate:
        return needed(load.model_copy(update={field: count}), costs, f"{role}_cores")

    before: int = getattr(load, field)
    return max(before, fewest_processes(cores_of, each_cores, role))
