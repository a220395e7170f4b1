"""Java classes as they are once loaded, kept in the cache: the next Java of the same kind starts with them.

Most of what a Java spends on starting is reading, checking and laying out classes. A Java that is told to
leaves them behind in a file when it ends (a dynamic class-data archive), and one that is given the file maps
it into memory instead. An archive is for one runtime, one class path and one set of flags: those are in its
name. Java checks that it fits, and does without it when it does not. See docs/decisions/0030.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.folders import cache_folder
from streamgauge.core.guardian import temporary_folder
from streamgauge.jvm.java import Java

SWITCH_VARIABLE = "STREAMGAUGE_CLASS_ARCHIVES"
"""`off`: none is made or used."""

_FOLDER = "class-archives"
_KEPT_OF_A_NAME = 3


@dataclass(frozen=True)
class _Kind:
    """How a Java is told. One that does not fit is no news for anybody: Java goes on without it."""

    suffix: str
    silent: tuple[str, ...]
    use: str
    make: str


_CLASSES = _Kind(
    ".jsa",
    ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds*=off"),
    "-XX:SharedArchiveFile",
    "-XX:ArchiveClassesAtExit",
)
_CLASSES_AND_PROFILES = _Kind(
    ".aot",
    ("-Xlog:aot=off", "-Xlog:aot*=off", "-Xlog:cds=off", "-Xlog:cds*=off"),
    "-XX:AOTCache",
    "-XX:AOTCacheOutput",
)
"""Since Java 25: also what was learnt of methods, which are then compiled after few calls, not thousands."""
FIRST_WITH_PROFILES = 25


class ClassArchive:
    """The archive of one kind of Java process. Whoever starts one adds `options` to its command line."""

    def __init__(self, name: str, java: Java, jars: Sequence[Path], flags: Sequence[str]) -> None:
        """`name`: of the kind of process; `flags`: those that are the same in every process of the kind."""
        self._is_on = os.environ.get(SWITCH_VARIABLE, "") != "off"
        self._name = name
        self._kind = _CLASSES_AND_PROFILES if java.major >= FIRST_WITH_PROFILES else _CLASSES
        self.path = cache_folder() / _FOLDER / f"{name}-{_digest(java, jars, flags)}{self._kind.suffix}"
        self._unfinished: Path | None = None

    @property
    def is_made(self) -> bool:
        return self.path.is_file()

    @property
    def has_profiles(self) -> bool:
        return self._kind is _CLASSES_AND_PROFILES

    @property
    def is_wanted(self) -> bool:
        """It is not there, and can be made."""
        return self._is_on and not self.is_made and self._can_write()

    def use(self) -> list[str]:
        """Options for a Java that takes what there is."""
        if not (self._is_on and self.is_made):
            return []
        with contextlib.suppress(OSError):  # somebody else's cache
            os.utime(self.path)
        return [*self._kind.silent, f"{self._kind.use}={self.path}"]

    def use_or_make(self) -> list[str]:
        """Options for a Java that leaves an archive at its end if there is none; call `keep` then."""
        if not self.is_wanted:
            return self.use()
        # If we are killed, Java writes it all the same; there it is removed with all that was ours.
        self._unfinished = temporary_folder() / f"{self.path.name}.{secrets.token_hex(4)}"
        return [*self._kind.silent, f"{self._kind.make}={self._unfinished}"]

    @property
    def is_in_the_making(self) -> bool:
        """There is a Java that makes it when it ends."""
        return self._unfinished is not None

    def keep(self, exit_code: int | None) -> None:
        """That Java has ended; what one left that was killed in the middle of it is thrown away."""
        unfinished, self._unfinished = self._unfinished, None
        if unfinished is None:
            return
        with contextlib.suppress(OSError):  # then the next one makes it
            if exit_code is not None and exit_code >= 0 and unfinished.exists():
                self._put_in_place(unfinished)
                self._drop_old()
            unfinished.unlink(missing_ok=True)

    def _put_in_place(self, unfinished: Path) -> None:
        """Beside its final name first, on the disk of the cache: what has the name is whole."""
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        try:
            shutil.move(unfinished, beside)
            os.replace(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)

    def _can_write(self) -> bool:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return False
        return os.access(self.path.parent, os.W_OK)

    def _drop_old(self) -> None:
        """Those that nobody has used for longest: each takes as much room as the jars. Not those that were
        made first: what every run starts with would go when somebody makes others, and be made again by each.
        """
        found = sorted(
            self.path.parent.glob(f"{self._name}-*{self._kind.suffix}"), key=lambda path: path.stat().st_mtime
        )
        for old in found[:-_KEPT_OF_A_NAME]:
            old.unlink(missing_ok=True)


def _digest(java: Java, jars: Sequence[Path], flags: Sequence[str]) -> str:
    """Over what Java itself compares: of jars the path, the size and the time of the last change."""
    digest = hashlib.sha256(f"{java.home} {java.version}\n{' '.join(flags)}\n".encode())
    for jar in jars:
        with contextlib.suppress(OSError):  # one that is not there cannot change either
            found = jar.stat()
            digest.update(f"{jar} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
