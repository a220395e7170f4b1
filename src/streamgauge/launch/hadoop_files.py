"""Run folders on whatever Spark has a file system for: `hdfs://`, and what a jar adds.

Python has no client of its own for them that needs no native library; Java has (launch/hadoop_java). Files go
there whole, from a temporary one, and come whole when more than their end is wanted. Agents have no part in
it (launch/agents_folder); tasks of the analysis start a Java of their own.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.run_files import RunFiles
from streamgauge.launch.hadoop_java import ask, check_scheme, hadoop_configuration, hadoop_java

_FILE_DEADLINE_S = 600.0
_PIECE_BYTES = 1 << 20


def open_hadoop_files(location: str) -> tuple[fs.FileSystem, str]:
    """The file system behind a URL, and the root in it; BadInput when there is none."""
    parts = urlsplit(location)
    return _files_at(f"{parts.scheme}://{parts.netloc}/"), parts.path or "/"


class HadoopFiles(RunFiles):
    """One of Hadoop's file systems, as pyarrow takes it."""

    def __init__(self, root: str) -> None:
        check_scheme(urlsplit(root).scheme)
        java = hadoop_java()
        self._path = java.jvm.org.apache.hadoop.fs.Path
        try:
            get = java.jvm.org.apache.hadoop.fs.FileSystem.get
            self._hadoop: Any = ask(get, java.jvm.java.net.URI(root), hadoop_configuration())
        except OSError as error:
            raise BadInput(f"{root}: {error}") from error

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        try:
            return self._list(selector.base_dir, selector.recursive)
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise

    def create_dir(self, path: str, recursive: bool) -> None:
        if not ask(self._hadoop.mkdirs, self._path(path)):
            raise OSError(f"{path}: the folder cannot be made")

    def delete_dir(self, path: str) -> None:
        ask(self._hadoop.delete, self._path(path), True)

    def delete_file(self, path: str) -> None:
        ask(self._hadoop.delete, self._path(path), False)

    def move(self, src: str, dest: str) -> None:
        """Hadoop does not put a file in another's place."""
        old, new = self._path(src), self._path(dest)
        if ask(self._hadoop.rename, old, new):
            return
        ask(self._hadoop.delete, new, False)
        if not ask(self._hadoop.rename, old, new):
            raise OSError(f"{src}: cannot be moved to {dest}")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> pa.NativeFile:
        stream = ask(self._hadoop.open, self._path(path))
        size = ask(self._hadoop.getFileStatus, self._path(path)).getLen()
        return pa.PythonFile(_Download(stream, int(size), lambda: self._fetched(path)), mode="r")

    def open_output_stream(self, path: str, metadata: Any = None) -> pa.NativeFile:
        number, name = tempfile.mkstemp(dir=temporary_folder())
        os.close(number)
        here = Path(name)
        return pa.PythonFile(_Upload(here, lambda: self._send(here, path)), mode="w")

    def _fetched(self, path: str) -> BinaryIO:
        """The whole file, which Java puts on this host's disk: many times as fast as piece by piece to us."""
        number, name = tempfile.mkstemp(dir=temporary_folder())
        os.close(number)
        try:
            local = self._path(Path(name).as_uri())
            ask(
                self._hadoop.copyToLocalFile,
                False,
                self._path(path),
                local,
                True,
                deadline_s=_FILE_DEADLINE_S,
            )
            return Path(name).open("rb")
        finally:
            Path(name).unlink()

    def _send(self, here: Path, path: str) -> None:
        local = self._path(here.as_uri())
        try:
            send = self._hadoop.copyFromLocalFile
            ask(send, False, True, local, self._path(path), deadline_s=_FILE_DEADLINE_S)
        finally:
            here.unlink(missing_ok=True)

    def _list(self, folder: str, recursive: bool) -> list[fs.FileInfo]:
        infos = []
        for status in ask(self._hadoop.listStatus, self._path(folder)):
            info = _file_info(status)
            infos.append(info)
            if recursive and info.type == fs.FileType.Directory:
                infos += self._list(info.path, recursive)
        return infos

    def _info(self, path: str) -> fs.FileInfo:
        try:
            return _file_info(ask(self._hadoop.getFileStatus, self._path(path)))
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)


class _Upload(io.FileIO):
    """A file of this host that goes to its place when it is closed."""

    def __init__(self, path: Path, send: Callable[[], None]) -> None:
        super().__init__(path, "wb")
        self._send = send

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._send()


class _Download(io.RawIOBase):
    """A file to read at any place: of an event file mostly its end is wanted, or all of it."""

    def __init__(self, stream: Any, size_bytes: int, fetch: Callable[[], BinaryIO]) -> None:
        self._stream, self._size, self._at, self._fetch = stream, size_bytes, 0, fetch
        self._here: BinaryIO | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        if self._here is None and wanted > _PIECE_BYTES // 16:
            self._here = self._fetch()
        if self._here is not None:
            self._here.seek(self._at)
            found = self._here.read(wanted)
            self._at += len(found)
            return found
        pieces = []
        while wanted:
            ask(self._stream.seek, self._at)
            piece = bytes(ask(self._stream.readNBytes, min(wanted, _PIECE_BYTES)))
            if not piece:
                break
            pieces.append(piece)
            self._at += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._here is not None:
                self._here.close()
            ask(self._stream.close)


@cache
def _files_at(root: str) -> fs.FileSystem:
    return fs.PyFileSystem(HadoopFiles(root))


def _file_info(status: Any) -> fs.FileInfo:
    kind = fs.FileType.Directory if status.isDirectory() else fs.FileType.File
    return fs.FileInfo(status.getPath().toUri().getPath(), kind, size=int(status.getLen()))
