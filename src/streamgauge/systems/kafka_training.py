"""Once on a machine a broker runs only to learn: what its Java then knows of Kafka's methods is kept.

A cold broker needs half a minute at a modest rate until its Java has found out which methods are hot and how
they are used. From Java 25 on that can be kept (jvm/class_archive). Whoever runs the broker for it is not
measured: a Java that records does more than its work. See docs/decisions/0044.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import IO

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.fetching import tell_fetching
from streamgauge.core.file_lock import locked_within
from streamgauge.core.guardian import temporary_folder
from streamgauge.jvm.class_archive import ClassArchive
from streamgauge.systems.contract import System
from streamgauge.systems.kafka_priming import prime_kafka

_TRAINING_S = 12.0
_MOST_MESSAGES = 1_000_000
_OTHERS_DEADLINE_S = 90.0
_WORDS = "nothing: a broker learns what its Java will know from now on, once on this machine"


def train(archive: ClassArchive, broker: Callable[[Path], System]) -> None:
    """Make the archive, unless it is there or cannot be. `broker` makes one that leaves it, with its logs in
    this folder. It never fails: without an archive a broker starts all the same."""
    if not archive.is_wanted:
        return
    tell_fetching(_WORDS)
    try:
        with archive.path.with_suffix(".lock").open("a") as lock:
            # Somebody else may have made it meanwhile, or be at it for too long.
            if _is_locked(lock) and archive.is_wanted:
                _run(broker)
    finally:
        tell_fetching(_WORDS, is_over=True)


def _run(broker: Callable[[Path], System]) -> None:
    with (
        suppress(StreamgaugeError),
        TemporaryDirectory(dir=temporary_folder()) as logs,
        broker(Path(logs)) as trained,
    ):
        connection = {"bootstrap.servers": trained.endpoints()["bootstrap"]}
        prime_kafka(connection, 1, Event(), _TRAINING_S, _MOST_MESSAGES)


def _is_locked(lock: IO[str]) -> bool:
    try:
        return locked_within(lock, _OTHERS_DEADLINE_S)
    except OSError:  # a file system without locks: then nobody learns
        return False
