"""What the broker's own log will take on this machine's disk, and whether there is room: it keeps everything.

No limit is set behind the user's back: a log that is cut short loses what a consumer has not read yet, and
nobody knows beforehand that consumers will keep up. So a run that cannot fit is refused before it starts.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.units import format_bytes
from streamgauge.plan.cases import Case
from streamgauge.spec.load import MESSAGE_HEADER_BYTES, Load
from streamgauge.spec.system import system_class

_RECORD_BYTES = 16
"""Of Kafka's own a message, in batches of some size."""
_KEY_BYTES = 8
_RETENTION, _SEGMENT = "retention.bytes", "segment.bytes"
_USUAL_SEGMENT_BYTES = 1024**3
_COMFORTABLE = 0.8
_MEND = (
    "make it shorter or slower, let TMPDIR name a folder on a larger disk, or bound the log by "
    f"topics: {{config: {{{_RETENTION}: …, {_SEGMENT}: …}}}}: what a consumer has not read by then is lost"
)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def refuse_without_room(cases: Iterable[Case], free_bytes: Callable[[Path], int] = _free_bytes) -> None:
    for case, folder, needed in _logs(cases):
        free = free_bytes(folder)
        # By what a codec makes them smaller, nobody knows here.
        if needed > free and case.load.compression == "none":
            raise BadInput(f"case {case.id}: {_words(folder, needed, free)}; {_MEND}")


def log_room_notes(cases: Iterable[Case], free_bytes: Callable[[Path], int] = _free_bytes) -> Iterator[str]:
    """For the largest of those that take nearly all there is."""
    large = [
        (needed, f"case {case.id}: {_words(folder, needed, free)}")
        for case, folder, needed in _logs(cases)
        if needed > _COMFORTABLE * (free := free_bytes(folder))
    ]
    if large:
        yield max(large)[1]


def log_bytes(load: Load) -> int | None:
    """Of all replicas together; None: nobody knows how many messages there will be, or how long they stay."""
    settings = load.topics.config
    if load.total_messages is None or "retention.ms" in settings:
        return None
    message = load.message
    each = message.mean_bytes + _RECORD_BYTES + (0 if message.keys.kind == "none" else _KEY_BYTES)
    each += sum(len(name) + len(value) for name, value in message.headers.items())
    each += 0 if message.carrier == "value" else MESSAGE_HEADER_BYTES
    total = (load.total_messages + load.total_warm_up_messages) * each
    kept = int(settings.get(_RETENTION, -1))
    if kept >= 0:
        # The segment that is written to is never removed.
        most = kept + int(settings.get(_SEGMENT, _USUAL_SEGMENT_BYTES))
        total = min(total, load.partition_count * most)
    return int(total * load.topics.replicas)


def _logs(cases: Iterable[Case]) -> Iterator[tuple[Case, Path, int]]:
    """Of cases on a system that we start here, and that keeps what it is sent as it was told to."""
    for case in cases:
        system = case.target.system
        if not isinstance(case.work, Load) or system is None:
            continue
        log_folder = getattr(system_class(system.kind), "log_folder", None)
        if log_folder is None or any(name.startswith("log.retention.") for name in system.properties):
            continue
        needed = log_bytes(case.work)
        if needed is not None:
            yield case, log_folder(), needed


def _words(folder: Path, needed: int, free: int) -> str:
    return (
        f"the broker keeps every message: about {format_bytes(needed)} in {folder}, where "
        f"{format_bytes(free)} are free"
    )
