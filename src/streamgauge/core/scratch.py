"""A temporary folder that is found and removed even when its maker was killed.

Its lock file stays locked while the maker or a process that inherited the lock (a broker)
lives. Whoever makes the next folder removes those beside it that nobody holds any more, so
a killed run does not leave gigabytes behind for long.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from streamgauge.core.errors import BadInput

_LOCK = "in-use.lock"


class ScratchFolder:
    """`path` is the folder; `lock_fd` is to be passed on to processes that use it."""

    def __init__(self, prefix: str, parent: Path) -> None:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(prefix, parent)
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).absolute()
            self.lock_fd = locked(self.path)
        except OSError as error:
            raise BadInput(f"{parent}: cannot make a data folder there: {error}") from error

    def remove(self) -> None:
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1
        shutil.rmtree(self.path, ignore_errors=True)


def remove_abandoned(prefix: str, parent: Path) -> None:
    """Remove this user's folders whose lock nobody holds."""
    for folder in abandoned(prefix, parent):
        shutil.rmtree(folder, ignore_errors=True)


def abandoned(prefix: str, parent: Path) -> Iterator[Path]:
    """This user's folders whose lock nobody holds; while one is looked at, we do."""
    for folder in parent.glob(f"{prefix}*"):
        try:
            if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
                continue
            lock_fd = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # Still in use.
        else:
            yield folder
        finally:
            os.close(lock_fd)


def locked(folder: Path) -> int:
    """Lock first, then give the file its name: nobody sees it unlocked while we live."""
    unnamed = folder / f".{_LOCK}"
    lock_fd = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    unnamed.rename(folder / _LOCK)
    return lock_fd
