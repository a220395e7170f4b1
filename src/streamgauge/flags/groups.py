"""Where a flag stands in the help of a command: the same flag in the same group everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

LOAD, TARGET, TEST, RESULTS, RUN, GENERAL = (
    "Load",
    "What is tested",
    "This command",
    "What comes out",
    "The run",
    "General",
)
ORDER = (LOAD, TEST, TARGET, RESULTS, RUN, GENERAL)

VOCABULARY: Mapping[str, str] = {
    "rate": "messages a second, all producers together",
    "messages": "how many messages",
    "size": "bytes of a message",
    "acks": "which replicas must confirm a message",
    "partitions": "partitions of a topic",
    "producers": "how many producers",
    "consumers": "how many consumers",
    "duration": "how long is measured",
    "warm_up": "what is sent ahead and kept apart",
}
"""One word for one thing, in every command that has it."""

_GROUPS: Mapping[str, tuple[str, ...]] = {
    LOAD: (*VOCABULARY, "warm_up_limit", "replicas", "topics", "stream_size", "slo"),
    TARGET: ("bootstrap", "target", "brokers", "kafka_bootstrap_host", "kafka_bootstrap_port", "kafka_topic"),
    RESULTS: ("as_json", "as_csv", "as_markdown", "html", "junit", "markdown", "only_print", "messages_csv"),
    RUN: ("out", "tag", "resume", "master", "secret_file", "live", "live_bootstrap", "print_workload"),
    GENERAL: ("quiet", "debug", "help", "tell_version", "install_completion", "show_completion"),
}
_BY_NAME = {name: group for group, names in _GROUPS.items() for name in names}

Function = TypeVar("Function", bound=Callable[..., Any])


def group_of(name: str) -> str:
    """`name`: of the parameter. What is of one command only stands under its own heading."""
    return _BY_NAME.get(name, TEST)


def told_by(
    *examples: str, aliases: Mapping[str, str] | None = None, begin_with: Callable[[], Iterable[str]] = tuple
) -> Callable[[Function], Function]:
    """Examples for the help of a command; `aliases`: older names of its flags, which mean the same;
    `begin_with`: flags of a first workload, for a command that makes none without any."""

    def told(function: Function) -> Function:
        function.examples = examples  # type: ignore[attr-defined]
        function.aliases = dict(aliases or {})  # type: ignore[attr-defined]
        function.begin_with = begin_with  # type: ignore[attr-defined]
        return function

    return told
