"""Whether a file in the cache is still the one that its lock names.

Hashing tens of megabytes at every start would take longer than starting. So a file is hashed once, and a
note beside it keeps what the file system says of it; it is hashed again when any of that has changed. Size
and time alone are not enough: whoever replaces a file can set both, but not the time of its last change of
any kind, nor its number on the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

_CHUNK_BYTES = 1 << 20


def is_genuine(path: Path, sha256: str, size_bytes: int) -> bool:
    """Whether it is there and has that hash."""
    try:
        found = path.stat()
        if found.st_size != size_bytes:
            return False
        seen = _note(found, sha256)
        if _read(_note_file(path)) == seen:
            return True
        if _hash(path) != sha256:
            return False
    except OSError:
        return False
    _write(_note_file(path), seen)
    return True


def note_genuine(path: Path, sha256: str) -> None:
    """It has just been hashed, and was put in place."""
    with contextlib.suppress(OSError):  # then it is hashed again when it is used
        _write(_note_file(path), _note(path.stat(), sha256))


def _note_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _note(found: os.stat_result, sha256: str) -> str:
    return f"{sha256} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}\n"


def _read(note: Path) -> str:
    try:
        return note.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def _write(note: Path, content: str) -> None:
    """Whole or not at all; a cache that cannot be written to costs time, no more."""
    unfinished = note.with_name(f".{note.name}.{os.getpid()}-{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        try:
            unfinished.write_text(content)
            os.replace(unfinished, note)
        finally:
            unfinished.unlink(missing_ok=True)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
