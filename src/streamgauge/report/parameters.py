"""The load of a case as it was in force: flat, with units, every default written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from streamgauge.core.units import format_bytes
from streamgauge.plan.cases import Case
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.report.document import Part
from streamgauge.report.quantities import count_text, plural, rate_per_s_text
from streamgauge.spec.load import Load


class Processes(Part):
    producer: int
    consumer: int


class RateStep(Part):
    rate_per_s: float
    for_s: float


class DrawnSize(Part):
    distribution: str
    min: int
    max: int
    mean: int | None
    sd: int | None


class LinesOf(Part):
    lines_of: str


class ProtobufOrders(Part):
    protobuf: str


ENDING_WORDS = {
    WarmUpEnding.AT_REST: "at rest",
    WarmUpEnding.LIMIT: "its limit, not at rest",
    WarmUpEnding.UNHEARD: "at rest, but it changed at the very end",
}
"""Until what a warm-up went on."""


class Parameters(Part):
    """All that was asked for."""

    producers: int
    consumers: int
    streams: str
    """per_partition: each partition has a producer and a consumer of its own; else shared"""
    processes: Processes
    """agent processes that they share"""
    messages: int | None
    """counted messages wanted, all producers together; null when only the duration bounds them"""
    duration_s: float | None
    stream_size: int | None
    """bytes of values to each partition, as asked"""
    rate: float | Literal["unlimited"] | list[RateStep]
    """messages a second of all producers together, unlimited, or steps"""
    warm_up_messages: int
    """sent ahead of the counted ones"""
    warm_up_s: float | None = None
    """how long it went on, where that was until the load was at rest"""
    warm_up_ended: WarmUpEnding | None = None
    message_size: int | DrawnSize | LinesOf | ProtobufOrders
    """bytes of the value; or how they are drawn; or the file whose lines they are"""
    keys: str
    key_count: int
    """of how many keys"""
    headers: dict[str, str]
    header_in: str
    """where the message header travels"""
    topics: list[str]
    partitions: int
    replicas: int
    topic_config: dict[str, Any]
    subscription: str
    acks: str
    completions: bool
    """whether producers hear of their messages"""
    engine: str
    """what runs the clients' loops"""
    transaction_messages: int | None
    compression: str
    compressibility: float = 0.0
    """the ratio asked for; 0: random bytes"""
    drain_timeout_s: float
    time_limit_s: float | None
    swept: dict[str, Any]
    """the fields that tell this case from its siblings"""

    @property
    def constant_rate(self) -> float | None:
        """Messages a second; None of a load that has no one rate."""
        return self.rate if isinstance(self.rate, float) else None


_KNOB_NAMES = {
    "topics.count": "topics",
    "topics.partitions": "prtn",
    "topics.replicas": "repl",
    "message.size": "size",
    "stream_size": "stream",
}


def effective_parameters(case: Case) -> dict[str, Any]:
    """The content of `Parameters`."""
    load = case.load
    message, topics = load.message, load.topics
    return {
        "producers": load.producer_count,
        "consumers": load.consumer_count,
        "streams": load.streams,
        "processes": {
            kind: sum(agent.kind == kind for agent in case.agents) for kind in ("producer", "consumer")
        },
        "messages": load.total_messages,
        "duration_s": load.duration,
        "stream_size": load.stream_size,
        "rate": _rate(load),
        "warm_up_messages": sum(a.warm_up_messages for a in case.agents if a.kind == "producer"),
        "warm_up_s": None if case.warm_up is None else case.warm_up.seconds,
        "warm_up_ended": None if case.warm_up is None else case.warm_up.ended,
        "message_size": _size(load),
        "keys": message.keys.kind,
        "key_count": message.keys.of,
        "headers": dict(message.headers),
        "header_in": message.header_in,
        "topics": list(case.topics),
        "partitions": topics.partitions,
        "replicas": topics.replicas,
        "topic_config": dict(topics.config),
        "subscription": load.subscription,
        "acks": load.acks,
        "completions": load.completions,
        "engine": load.engine,
        "transaction_messages": load.transactions.messages if load.transactions else None,
        "compression": load.compression,
        "compressibility": message.compressibility,
        "drain_timeout_s": load.drain_timeout,
        "time_limit_s": load.time_limit,
        "swept": dict(case.parameters),
    }


def load_sentence(parameters: Parameters) -> str:
    """The load in one line, for people."""
    parts = [
        _clients_text(parameters),
        f"{_amount_text(parameters)} {rate_text(parameters.rate)}",
        size_text(parameters.message_size),
        f"{plural(parameters.partitions, 'partition')} × {plural(parameters.replicas, 'replica')}",
        f"acks {parameters.acks}",
    ]
    if len(parameters.topics) > 1:
        parts.insert(3, f"{len(parameters.topics)} topics")
    if not parameters.completions:
        parts.append("no delivery reports")
    if parameters.transaction_messages is not None:
        parts.append(f"transactions of {plural(parameters.transaction_messages, 'message')}")
    if parameters.compression != "none":
        parts.append(str(parameters.compression))
    if parameters.warm_up_messages:
        parts.append(f"warm-up {count_text(parameters.warm_up_messages)}{_until_text(parameters)}")
    return " · ".join(parts)


def _until_text(parameters: Parameters) -> str:
    """How a warm-up ended that went on until the load was at rest."""
    if parameters.warm_up_ended is None:
        return ""
    return f" in {until_text(parameters.warm_up_s or 0.0, parameters.warm_up_ended)}"


def until_text(seconds: float, ended: WarmUpEnding) -> str:
    """How long a warm-up was, and until what it went on."""
    return f"{seconds:.3g} s, until {ENDING_WORDS[ended]}"


def swept_text(parameters: Parameters) -> str:
    """`message.size=100 rate=1k/s`, or nothing."""
    return " ".join(f"{field}={knob_text(value)}" for field, value in parameters.swept.items())


def knob_name(path: str) -> str:
    """A swept field in one short word."""
    return _KNOB_NAMES.get(path, path)


def knob_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def rate_text(rate: Any) -> str:
    if isinstance(rate, list):
        steps = (f"{rate_per_s_text(step.rate_per_s)} for {step.for_s:g} s" for step in rate)
        return "in steps of " + ", ".join(steps)
    return "as fast as possible" if rate == "unlimited" else f"at {rate_per_s_text(rate)}"


def size_text(size: int | DrawnSize | LinesOf | ProtobufOrders) -> str:
    if isinstance(size, ProtobufOrders):
        return "protobuf orders"
    if isinstance(size, LinesOf):
        return f"lines of {size.lines_of}"
    if isinstance(size, DrawnSize):
        return f"{size.distribution} {format_bytes(size.min)} to {format_bytes(size.max)}"
    return format_bytes(size)


def _clients_text(parameters: Parameters) -> str:
    if parameters.streams == "shared":
        return f"{plural(parameters.producers, 'producer')}, {plural(parameters.consumers, 'consumer')}"
    processes = parameters.processes
    if not parameters.consumers:
        word = "process" if processes.producer == 1 else "processes"
        return f"{plural(parameters.producers, 'producer')} in {processes.producer} {word}"
    pairs = plural(parameters.producers, "producer/consumer pair")
    return f"{pairs} in {processes.producer} + {processes.consumer} processes"


def _amount_text(parameters: Parameters) -> str:
    if parameters.messages is not None:
        return plural(parameters.messages, "message")
    return f"{parameters.duration_s:g} s"


def _rate(load: Load) -> Any:
    if isinstance(load.rate, tuple):
        return [{"rate_per_s": step.rate, "for_s": step.for_} for step in load.rate]
    return load.rate


def _size(load: Load) -> Any:
    size = load.message.size
    return size if isinstance(size, int) else size.model_dump(mode="json")


KNOBS: dict[str, Callable[[Parameters], Any]] = {
    "topics": lambda p: len(p.topics),
    "partitions": lambda p: p.partitions,
    "replicas": lambda p: p.replicas,
    "message-size": lambda p: p.message_size,
    "stream-size": lambda p: p.stream_size,
    "rate": lambda p: p.rate,
    "acks": lambda p: p.acks,
    "completions": lambda p: p.completions,
    "eos": lambda p: p.transaction_messages is not None,
    "compression": lambda p: p.compression,
    "producers": lambda p: None if p.streams == "per_partition" else p.producers,
    "consumers": lambda p: None if p.streams == "per_partition" else p.consumers,
}
"""What cases may differ in; streams of their own follow from topics and partitions."""

FIELDS_OF_KNOBS = (
    "topics.count",
    "topics.partitions",
    "topics.replicas",
    "message.size",
    "stream_size",
    "rate",
    "acks",
    "completions",
    "transactions",
    "compression",
    "producers",
    "consumers",
)
"""Fields of a load that knobs stand for."""


def plain_value(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, type(None))) else str(value)
