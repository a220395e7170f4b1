"""Jars a system needs, by lock file: `fetch("kafka")` → their paths in the cache.

A lock (`<name>.lock` beside this file, written by tools/lock_jars.py) has one line a jar:
`group:artifact:version sha256 size`. A jar is taken from the cache, else from the local
Maven repository, else downloaded from a Maven-layout address.

It is written beside its final name, hashed, then renamed, so that two processes fetching at the
same time do each other no harm. A file under its final name is hashed again only when it has
changed since (see `genuine`), and fetched anew when it is another one.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Container, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.fetching import tell_fetching
from streamgauge.core.folders import cache_folder
from streamgauge.core.units import format_bytes
from streamgauge.jvm.genuine import is_genuine, note_genuine
from streamgauge.jvm.maven_settings import local_repository, repository_url

SHIPPED_JARS_VARIABLE = "STREAMGAUGE_SHIPPED_JARS"
"""Folder in a repository's layout with jars that came with a Spark application."""

_AT_A_TIME = 6
_ATTEMPTS = 4
_BACKOFF_S = 0.5
_SOCKET_TIMEOUT_S = 20.0
_JAR_DEADLINE_S = 180.0
_CHUNK_BYTES = 1 << 18
_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504}


class JarsUnavailable(StreamgaugeError):
    """A jar could not be had, or is not the one the lock names."""


@dataclass(frozen=True)
class Jar:
    """One line of a lock."""

    group: str
    artifact: str
    version: str
    sha256: str
    size_bytes: int

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def repository_path(self) -> str:
        """Where a repository in Maven's layout has it."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"


def fetch(lock_name: str) -> list[Path]:
    """Every jar of the lock, in the cache; what is missing is downloaded, and `core.fetching` told of it."""
    jars = read_lock(lock_name)
    folder = cache_folder() / "jars"
    paths = {jar: folder / jar.repository_path for jar in jars}
    missing = [jar for jar, path in paths.items() if not is_genuine(path, jar.sha256, jar.size_bytes)]
    if missing:
        _fetch_missing(missing, paths, len(jars))
    return list(paths.values())


def read_lock(lock_name: str) -> list[Jar]:
    """The jars a lock names, in its order."""
    path = Path(__file__).with_name(f"{lock_name}.lock")
    jars = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            coordinates, sha256, size = line.split()
            group, artifact, version = coordinates.split(":")
            jars.append(Jar(group, artifact, version, sha256, int(size)))
    return jars


def cached_jars(but_not: Container[str]) -> dict[str, Path]:
    """The jars of all locks that are in the cache, by their path in a repository."""
    locks = [lock.stem for lock in sorted(Path(__file__).parent.glob("*.lock")) if lock.stem not in but_not]
    folder = cache_folder() / "jars"
    jars = {jar.repository_path: jar for lock in locks for jar in read_lock(lock)}
    return {
        path: folder / path
        for path, jar in jars.items()
        if is_genuine(folder / path, jar.sha256, jar.size_bytes)
    }


def locked_version(lock_name: str, artifact: str) -> str:
    """The version of one artifact of a lock, e.g. of Kafka itself."""
    return next(jar.version for jar in read_lock(lock_name) if jar.artifact == artifact)


def classpath(jars: Iterable[Path]) -> str:
    return os.pathsep.join(map(str, jars))


def _fetch_missing(missing: list[Jar], paths: dict[Jar, Path], total: int) -> None:
    base_url, given_up = repository_url(), threading.Event()
    done, downloaded = total - len(missing), 0
    tell_fetching(f"jars: {done} of {total}")
    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="fetch-jar") as pool:
        waiting = [pool.submit(_fetch_one, jar, paths[jar], base_url, given_up) for jar in missing]
        try:
            for finished in as_completed(waiting):
                downloaded += finished.result()
                done += 1
                words = f"jars: {done} of {total}, {format_bytes(downloaded)} downloaded"
                tell_fetching(words, is_over=done == total)
        except BaseException:
            # One jar short is as bad as all: the rest stop at their next chunk or pause.
            given_up.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _fetch_one(jar: Jar, target: Path, base_url: str, given_up: threading.Event) -> int:
    """Put one jar in place; returns the bytes downloaded for it (0 when it was on this machine)."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JarsUnavailable(f"{target.parent}: cannot be made: {error}; set STREAMGAUGE_CACHE") from error
    if _take_local(jar, target, given_up):
        return 0
    url = f"{base_url}/{jar.repository_path}"
    for attempt in range(_ATTEMPTS):
        try:
            with urllib.request.urlopen(url, timeout=_SOCKET_TIMEOUT_S) as response:
                _write_checked(jar, response, target, given_up)
            return jar.size_bytes
        except _WrongHash as error:
            raise JarsUnavailable(
                f"{url}: {error}; set STREAMGAUGE_MAVEN_URL to a repository with the genuine file"
            ) from error
        except (OSError, http.client.HTTPException, _WrongSize, _TooSlow) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # It is a response too, with an open connection.
            last = attempt == _ATTEMPTS - 1 or not _is_transient(error)
            if last or given_up.wait(_BACKOFF_S * 2**attempt):
                raise JarsUnavailable(
                    f"cannot download {jar.name} from {base_url}: {_reason(error)}; "
                    "set STREAMGAUGE_MAVEN_URL to a Maven repository that this machine can reach"
                ) from error
    raise AssertionError("unreachable")


def _take_local(jar: Jar, target: Path, given_up: threading.Event) -> bool:
    shipped = os.environ.get(SHIPPED_JARS_VARIABLE)
    for repository in (*([Path(shipped)] if shipped else []), local_repository()):
        source = repository / jar.repository_path
        if _size(source) != jar.size_bytes:
            continue
        try:
            with source.open("rb") as stream:
                _write_checked(jar, stream, target, given_up)
        except (OSError, _WrongHash, _WrongSize):
            continue
        return True
    return False


class _WrongSize(Exception):
    """Truncated, or a page that says why not; worth another attempt."""


class _WrongHash(Exception):
    """As long as the jar but another file; asking again will not help."""


class _TooSlow(Exception):
    """The jar's whole time is up, or the fetch was given up."""


def _write_checked(
    jar: Jar, source: BinaryIO | http.client.HTTPResponse, target: Path, given_up: threading.Event
) -> None:
    deadline = time.monotonic() + _JAR_DEADLINE_S
    unfinished = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}")
    digest, size = hashlib.sha256(), 0
    try:
        with unfinished.open("wb") as out:
            while chunk := source.read(_CHUNK_BYTES):
                if given_up.is_set() or time.monotonic() > deadline:
                    raise _TooSlow(f"not done after {_JAR_DEADLINE_S:.0f} s")
                size += len(chunk)
                if size > jar.size_bytes:
                    break
                digest.update(chunk)
                out.write(chunk)
        if size != jar.size_bytes:
            raise _WrongSize(f"got {size} bytes of {jar.size_bytes}")
        if digest.hexdigest() != jar.sha256:
            raise _WrongHash(f"its SHA-256 is {digest.hexdigest()[:12]}…, the lock says {jar.sha256[:12]}…")
        os.replace(unfinished, target)
        note_genuine(target, jar.sha256)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _TRANSIENT_STATUS
    return not isinstance(error, _TooSlow)


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason).splitlines()[0] if str(reason) else type(error).__name__


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
