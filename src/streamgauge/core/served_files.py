"""A run folder that lies on the launcher's disk, as agents on other hosts see it: files over HTTPS.

`https://launcher:port/` is one more address of a run folder; launch/folder_server serves it. Both sides show
the certificate that was made for this run (core/run_identity).
"""

from __future__ import annotations

import http.client
import io
import itertools
import json
import os
import random
import ssl
import threading
import time
from typing import Any
from urllib.parse import quote, urlsplit

import pyarrow as pa
from pyarrow import fs

from streamgauge.core.run_files import RunFiles
from streamgauge.core.run_identity import agent_context

IDENTITY_VARIABLE = "STREAMGAUGE_RUN_IDENTITY"
"""Environment variable with the run's key and certificate, in its tasks and agents."""
CLOCK_TARGET = "/?clock"
_DEADLINE_S = 20.0
"""Of an answer; and so long a connection that breaks is made again."""
_ATTEMPTS = 2
"""Where nobody listens or nobody answers."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 1.0
_BROKEN_TLS = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""As when the launcher turned away one of many that came at once; all else in TLS is about certificates."""
_MISSING = 404


class FolderClient:
    """One connection a thread; made again when it broke."""

    def __init__(self, location: str) -> None:
        self._netloc = urlsplit(location).netloc
        self._context: ssl.SSLContext | None = None
        self._local = threading.local()

    def ask(self, method: str, target: str, body: bytes = b"") -> bytes | None:
        """The content of the answer; None when there is no such thing; else OSError says why not."""
        trusted = self._trusted()
        begun_s, attempts = time.monotonic(), itertools.count(1)
        while True:
            try:
                status, reason, content = self._exchange(trusted, method, target, body)
                break
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if isinstance(error, ssl.SSLError) and not isinstance(error, _BROKEN_TLS):
                    raise OSError(
                        f"the launcher at {self._netloc} does not know this host: {error.reason}; agents "
                        f"get the run's certificate ({IDENTITY_VARIABLE}) from their launcher alone"
                    ) from error
                if _is_over(error, next(attempts), time.monotonic() - begun_s):
                    raise OSError(f"the launcher at {self._netloc} does not answer: {error}") from error
        if status == _MISSING:
            return None
        if status != http.client.OK:
            raise OSError(f"the launcher at {self._netloc} answered {status} {reason}")
        return content

    def _exchange(
        self, trusted: ssl.SSLContext, method: str, target: str, body: bytes
    ) -> tuple[int, str, bytes]:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _Connection(
                self._netloc, timeout=_DEADLINE_S, context=trusted
            )
        connection.request(method, target, body=body)
        answer = connection.getresponse()
        return answer.status, answer.reason, answer.read()

    def _trusted(self) -> ssl.SSLContext:
        if self._context is None:
            identity = os.environ.get(IDENTITY_VARIABLE)
            if not identity:
                raise OSError(f"{IDENTITY_VARIABLE} is not set: only agents of the run get at its folder")
            self._context = agent_context(identity)
        return self._context

    def _close(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None


def _is_over(error: Exception, attempts: int, waited_s: float) -> bool:
    """False, after a pause: it may be tried again; who were turned away together come back one by one."""
    is_nobody_there = isinstance(error, ConnectionRefusedError | TimeoutError)
    if attempts >= _ATTEMPTS and (is_nobody_there or waited_s > _DEADLINE_S):
        return True
    if attempts > 1:
        most_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(attempts, 10))
        time.sleep(random.uniform(most_s / 2, most_s))
    return False


class _Connection(http.client.HTTPSConnection):
    def __del__(self) -> None:
        self.close()  # threads come and go; nobody else knows of theirs


class ServedFiles(RunFiles):
    """What pyarrow asks of a file system, of which the launcher's folder has the little that a run needs."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._client = FolderClient(location)

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return [_file_info(path, self._client.ask("KIND", _target(path))) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        found = self._client.ask("LIST", _target(selector.base_dir))
        if found is None:
            if selector.allow_not_found:
                return []
            raise FileNotFoundError(selector.base_dir)
        base = selector.base_dir.rstrip("/")
        infos = []
        for name, kind in json.loads(found):
            if selector.recursive or "/" not in name:
                infos.append(_file_info(f"{base}/{name}", kind.encode()))
        return infos

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return pa.BufferReader(self._read(path))

    def open_input_file(self, path: str) -> pa.NativeFile:
        return pa.BufferReader(self._read(path))

    def open_output_stream(self, path: str, metadata: Any = None) -> pa.NativeFile:
        return pa.PythonFile(_Upload(self._client, path), mode="w")

    def create_dir(self, path: str, recursive: bool) -> None:
        """The launcher makes the folders of a file with it."""

    def delete_dir(self, path: str) -> None:
        self._client.ask("DELETE", _target(path))

    def delete_file(self, path: str) -> None:
        self._client.ask("DELETE", _target(path))

    def move(self, src: str, dest: str) -> None:
        if self._client.ask("MOVE", _target(src), dest.encode()) is None:
            raise FileNotFoundError(src)

    def _read(self, path: str) -> bytes:
        content = self._client.ask("GET", _target(path))
        if content is None:
            raise FileNotFoundError(path)
        return content


class _Upload(io.BytesIO):
    """Goes to the launcher as a whole when it is closed."""

    def __init__(self, client: FolderClient, path: str) -> None:
        super().__init__()
        self._client, self._path = client, path

    def close(self) -> None:
        if not self.closed:
            content = self.getvalue()
            super().close()
            self._client.ask("PUT", _target(self._path), content)


def served_files(location: str) -> tuple[fs.FileSystem, str]:
    """The file system behind an https address, and the root in it."""
    return fs.PyFileSystem(ServedFiles(location)), urlsplit(location).path or "/"


def _target(path: str) -> str:
    return "/" + quote(path.strip("/"))


def _file_info(path: str, kind: bytes | None) -> fs.FileInfo:
    kinds = {b"file": fs.FileType.File, b"folder": fs.FileType.Directory}
    return fs.FileInfo(path, kinds.get(kind or b"", fs.FileType.NotFound))
