"""Lightstreamer's web client, from npm: fetched once, checked against the lock, kept in the cache."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import io
import os
import re
import secrets
import tarfile
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.folders import cache_folder

REGISTRY = "https://registry.npmjs.org"
_LOCK = Path(__file__).with_name("web_client.lock")
_NPM_SETTING = "npm_config_registry"
_SOCKET_TIMEOUT_S = 10.0
_DEADLINE_S = 60.0
_CHUNK_BYTES = 1 << 18
_MOST_BYTES = 32 << 20


class WebClientUnavailable(StreamgaugeError):
    """It is not in the cache and could not be fetched, or is not what the lock names."""


@dataclass(frozen=True)
class Locked:
    """The line of the lock."""

    package: str
    version: str
    integrity: str
    file: str


def web_client() -> bytes:
    """The client's JavaScript; downloaded when it is not in the cache yet."""
    locked = read_lock()
    kept = cache_folder() / "npm" / f"{locked.package}-{locked.version}.tgz"
    try:
        return _file_in(kept.read_bytes(), locked)
    except (OSError, WebClientUnavailable):
        package = _download(locked)
    script = _file_in(package, locked)
    _keep(kept, package)
    return script


def read_lock() -> Locked:
    [line] = [line for line in _LOCK.read_text().splitlines() if line and not line.startswith("#")]
    return Locked(*line.split())


def registry_url() -> str:
    """STREAMGAUGE_NPM_URL, else npm's own setting (environment, then ~/.npmrc), else npm's registry."""
    chosen = os.environ.get("STREAMGAUGE_NPM_URL") or os.environ.get(_NPM_SETTING)
    return (chosen or _of_npmrc() or REGISTRY).rstrip("/")


def _of_npmrc() -> str | None:
    try:
        text = (Path.home() / ".npmrc").read_text()
    except (OSError, UnicodeDecodeError):
        return None
    match = re.search(r"(?m)^\s*registry\s*=\s*(\S+)\s*$", text)
    return match[1] if match else None


def _download(locked: Locked) -> bytes:
    url = f"{registry_url()}/{locked.package}/-/{locked.package}-{locked.version}.tgz"
    until = time.monotonic() + _DEADLINE_S
    body = bytearray()
    try:
        with urllib.request.urlopen(url, timeout=_SOCKET_TIMEOUT_S) as response:
            while chunk := response.read1(_CHUNK_BYTES):
                body += chunk
                if time.monotonic() > until or len(body) > _MOST_BYTES:
                    raise OSError(f"not done after {_DEADLINE_S:.0f} s or {_MOST_BYTES} bytes")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise WebClientUnavailable(
            f"{url}: {getattr(error, 'reason', None) or error}; "
            "set STREAMGAUGE_NPM_URL to an npm registry that this machine can reach"
        ) from None
    return bytes(body)


def _file_in(package: bytes, locked: Locked) -> bytes:
    algorithm, _, expected = locked.integrity.partition("-")
    found = base64.b64encode(hashlib.new(algorithm, package).digest()).decode()
    if not hmac.compare_digest(found, expected):
        raise WebClientUnavailable(
            f"{locked.package} {locked.version}: what was fetched is not what the lock names; "
            "set STREAMGAUGE_NPM_URL to a registry with the genuine package"
        )
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        member = archive.extractfile(locked.file)
        assert member is not None  # The package is the one that was looked at when it was locked.
        return member.read()


def _keep(path: Path, package: bytes) -> None:
    """Written beside, then renamed; a cache that cannot be written is no reason to stop."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(package)
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
