"""What the launcher's file server takes when hosts share no disk: MB/s, by how many write at once."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.launch.folder_server import FolderServer

FILE_BYTES = 1_100_000
"""Of an event file of an agent that is full: 131,072 rows of 8.6 bytes."""
_SECONDS = 4.0
_SERVER_DEADLINE_S = 30.0


def server_mb_per_s(folder: Path, hosts: int) -> float:
    """Of so many hosts, each with a connection, that write event files as fast as they can."""
    place = folder / f"served-{hosts}"
    place.mkdir()
    spawned = multiprocessing.get_context("spawn")
    # A host is a process here: on two cores they and the server are in each other's way, as agents beside
    # a launcher would be.
    with _server(place) as (location, identity), ProcessPoolExecutor(hosts, mp_context=spawned) as pool:
        list(
            pool.map(_written_bytes, *zip(*[(location, identity, n, 0.2) for n in range(hosts)], strict=True))
        )
        begin = time.perf_counter()
        found = pool.map(
            _written_bytes, *zip(*[(location, identity, n, _SECONDS) for n in range(hosts)], strict=True)
        )
        total = sum(found)
        took_s = time.perf_counter() - begin
    shutil.rmtree(place)
    return total / took_s / 1e6


def requests_per_s(folder: Path, clients: int) -> float:
    """Questions for a file that is not there yet, as a task asks that waits for the launcher's word."""
    place = folder / f"asked-{clients}"
    place.mkdir()
    spawned = multiprocessing.get_context("spawn")
    with _server(place) as (location, identity), ProcessPoolExecutor(clients, mp_context=spawned) as pool:
        arguments = [(location, identity, _SECONDS) for _ in range(clients)]
        list(pool.map(_asked, *zip(*[(*one[:2], 0.2) for one in arguments], strict=True)))
        begin = time.perf_counter()
        total = sum(pool.map(_asked, *zip(*arguments, strict=True)))
        took_s = time.perf_counter() - begin
    shutil.rmtree(place)
    return total / took_s


def _written_bytes(location: str, identity: str, number: int, seconds: float) -> int:
    os.environ[IDENTITY_VARIABLE] = identity
    run, content, written = RunDir(location), os.urandom(FILE_BYTES), 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        run.write_bytes(f"events/sends/case=001/host-{number}.parquet", content)
        written += len(content)
    return written


def _asked(location: str, identity: str, seconds: float) -> int:
    os.environ[IDENTITY_VARIABLE] = identity
    run, count = RunDir(location), 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        run.has("live/start.json")
        count += 1
    return count


@contextmanager
def _server(place: Path) -> Iterator[tuple[str, str]]:
    """In a process of its own, as the launcher is."""
    spawned = multiprocessing.get_context("spawn")
    told, ended = spawned.Queue(), spawned.Event()
    process = spawned.Process(target=_serve, args=(str(place), told, ended), daemon=True)
    process.start()
    try:
        yield told.get(timeout=_SERVER_DEADLINE_S)
    finally:
        ended.set()
        process.join(_SERVER_DEADLINE_S)


def _serve(place: str, told: multiprocessing.Queue[tuple[str, str]], ended: Event) -> None:
    server = FolderServer(Path(place), "127.0.0.1", "run")
    told.put((server.location, server.identity))
    ended.wait()
    server.close()
