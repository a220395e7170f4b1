"""A workload as a file that explains itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

FIELD_WORDS = {
    "kind": "which family of benchmarks this is",
    "name": "of the workload: runs of the same name are a series",
    "targets": "what is tested: a driver and its settings; several are measured one after another",
    "driver": "client library",
    "system": "what is started for the run, and stopped after it",
    "bootstrap": "address of Kafka: host:port, several separated by commas",
    "client": "settings of the client library, by its own names",
    "load": "how much of what",
    "rate": "messages a second, all producers together; or unlimited",
    "messages": "how many, all producers together; instead: duration",
    "duration": "how long is measured: 30s, 5min",
    "size": "bytes of a message: 700, 1KiB",
    "producers": "processes that send",
    "consumers": "processes that read; 0: messages are only produced",
    "partitions": "of each topic",
    "replicas": "of each partition",
    "acks": "which replicas must confirm a message: 0, 1 or all",
    "own_names": "topics get names of their own, and are deleted afterwards",
    "warm_up_messages": "sent ahead and kept apart: auto (until it is at rest), or how many",
    "warm_up_limit": "how long auto may wait for rest",
    "warm_up": "sent ahead and kept apart",
    "objectives": "what has to hold in every case: the exit code says whether it did",
}
"""What a field of that name means, in whichever part of a workload."""
_KEY = re.compile(r"^(?P<indent> *(?:- )?)(?P<key>\w+):")
_SPARE = """
# More that may be said here (docs/workload.md):
# objectives:          # the exit code says whether they hold
#   - p99<20ms
#   - lost=0
"""


def commented(plain: str, heading: str, own_words: Mapping[str, str]) -> str:
    """The same content with a word on each field, the first time that it comes; `own_words`: the family's."""
    content: dict[str, Any] = yaml.safe_load(plain)
    words = {**FIELD_WORDS, **own_words}
    seen: set[str] = set()
    lines = [f"# {line}" for line in heading.splitlines()]
    for line in plain.splitlines():
        found = _KEY.match(line)
        if found and found["key"] in words and found["key"] not in seen:
            seen.add(found["key"])
            lines.append(f"{' ' * len(found['indent'])}# {words[found['key']]}")
        lines.append(line)
    text = "\n".join(lines) + "\n" + ("" if "objectives" in content else _SPARE)
    # A comment within a text that has several lines would be a part of it.
    return text if yaml.safe_load(text) == content else plain
