"""The Java of this process, with Aeron's and Kafka's clients and our loops over them."""

from __future__ import annotations

import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import jpype
import jpype.nio
import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import CaseFailed
from streamgauge.jvm import embedded
from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import fetch

LOCK = "aeron"
PACKAGE = "streamgauge.transports"
CLOSE_MS = 5000
_SOURCES = Path(embedded.__file__).parent


class Closing(Protocol):
    def close(self) -> None: ...


_open_clients: weakref.WeakSet[Any] = weakref.WeakSet()


@lru_cache
def start_java(options: tuple[str, ...]) -> None:
    """Once it runs, asking again costs nothing."""
    jars = [*fetch(LOCK), *fetch("kafka-clients")]
    orders = compiled(_SOURCES / "orders", jars)
    loops = compiled(_SOURCES / "transports", [*jars, orders])
    embedded.start([*jars, orders, loops], options)
    embedded.before_exit(_close_all)


def java_class(name: str) -> Any:
    return jpype.JClass(f"{PACKAGE}.{name}")


def opened(client: Closing) -> None:
    """To be closed when Python exits, if nobody did before."""
    _open_clients.add(client)


def closed(client: Closing) -> None:
    _open_clients.discard(client)


def shared_memory(size: int) -> tuple[NDArray[np.uint8], Any]:
    """Memory of ours, and the same for Java."""
    memory = np.zeros(size, np.uint8)
    return memory, jpype.nio.convertToDirectBuffer(memory)


def failed(who: str, what: str, error: Any) -> CaseFailed:
    said = str(error.getMessage() if isinstance(error, jpype.JException) else error)
    first = next((line.strip() for line in said.splitlines() if line.strip()), type(error).__name__)
    return CaseFailed(f"{who}: {what}: {first}")


def _close_all() -> None:
    for client in list(_open_clients):
        client.close()
