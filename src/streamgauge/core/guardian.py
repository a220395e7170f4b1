"""What belongs to a command, and who sees to it when the command is killed.

A *guardian* is a small process that holds the other end of a pipe and otherwise sleeps. When the command has
ended, however it ended, the guardian ends what still runs, does what the command had promised to undo, and
removes the temporary folders. What belongs to whom is told by a mark: every process that a command starts
inherits it in its environment, and the folders have it in their names. See docs/decisions/0026.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.scratch import locked

MARK_VARIABLE = "STREAMGAUGE_OWNER"
FOLDER_PREFIX = "streamgauge-of-"
MEMORY = Path("/dev/shm")
_MODULE = "streamgauge.core.guardian_process"
_FAREWELL_S = 30.0
_GRACE_S = 6.0
"""Long enough for agents to write what they recorded, and for a broker to close its files."""
_OURS_ALONE = 0o700

_to_finish: list[Callable[[], None]] = []


def guard(grace_s: float = _GRACE_S) -> None:
    """From here on whatever this process starts is seen to; its own children are guarded already.

    `grace_s`: between telling what we leave to end and killing it.
    """
    if MARK_VARIABLE not in os.environ:
        _Guardian.start(grace_s)


def before_farewell(finish: Callable[[], None]) -> None:
    """What is worth waiting for at the end of a command that went well; it has a deadline of its own."""
    _to_finish.append(finish)


def farewell(*, is_hurried: bool = False) -> None:
    """Wait until nothing of ours is left; nothing is started after that. `is_hurried`: we are told to end."""
    while _to_finish and not is_hurried:
        _to_finish.pop()()
    if _Guardian.mine is not None:
        _Guardian.mine.dismiss()


def own_mark() -> None:
    """For a command: it is nobody's part, whoever started it."""
    os.environ.pop(MARK_VARIABLE, None)


def mark() -> str:
    """Of the command that this process is, or is a part of."""
    guard()
    return os.environ[MARK_VARIABLE]


def temporary_folder() -> Path:
    """Where everything temporary goes: gone when the command is."""
    guard()
    return _made(temporary_root() / _folder_name())


def memory_folder() -> Path:
    """The same in memory, where the system has that."""
    guard()
    return _made(MEMORY / _folder_name()) if MEMORY.is_dir() else temporary_folder()


def promise(module: str, argument: Mapping[str, Any]) -> Callable[[], None]:
    """If we are gone before what is returned was called: `python -m module` gets `argument` on its input."""
    guard()
    if (guardian := _Guardian.mine) is None:
        return lambda: None  # part of a command that sees to it
    name = secrets.token_hex(4)
    guardian.tell({"promise": name, "module": module, "argument": argument})
    return lambda: guardian.tell({"kept": name})


def with_mark(environment: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """For a process that is ours, with an environment of its own; None: it inherits ours."""
    guard()
    return None if environment is None else {**environment, MARK_VARIABLE: os.environ[MARK_VARIABLE]}


def without_mark(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """For a process that is to outlive us."""
    whole = os.environ if environment is None else environment
    return {name: value for name, value in whole.items() if name != MARK_VARIABLE}


class _Guardian:
    """This process's own, if it has one."""

    mine: _Guardian | None = None

    def __init__(self, grace_s: float) -> None:
        self.mark = secrets.token_hex(6)
        folder = temporary_root() / f"{FOLDER_PREFIX}{self.mark}"
        reading, self._pipe = os.pipe()
        try:
            # Before there is a folder: whatever is made is known to somebody who stays.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, self.mark, str(folder), str(grace_s)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=without_mark(),
            )
        except OSError as error:
            raise StreamgaugeError(f"{sys.executable}: cannot be started: {error}") from error
        finally:
            os.close(reading)
        # Held as long as we live: who finds it free sees to what neither of us could.
        self._lock_fd = locked(_made(folder))

    @classmethod
    def start(cls, grace_s: float) -> None:
        cls.mine = cls(grace_s)
        os.environ[MARK_VARIABLE] = cls.mine.mark

    def tell(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # it was killed; then there is nobody to tell
            line = (json.dumps(message) + "\n").encode()
            while line:
                line = line[os.write(self._pipe, line) :]

    def let_go(self) -> None:
        """It learns of our end from the pipe; nobody waits for it."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            self._process.returncode = 0  # else Popen warns of a child that nobody waited for

    def dismiss(self) -> None:
        os.close(self._pipe)
        self._pipe = -1
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_FAREWELL_S)
        self._process.returncode = 0
        type(self).mine = None
        os.environ.pop(MARK_VARIABLE, None)

    @classmethod
    def forget(cls) -> None:
        """In a copy of this process: the pipe is to end with the one that it is about."""
        if cls.mine is not None:
            os.close(cls.mine._pipe)
            os.close(cls.mine._lock_fd)
            cls.mine._pipe = -1
            cls.mine = None


def _let_go() -> None:
    if _Guardian.mine is not None:
        _Guardian.mine.let_go()


os.register_at_fork(after_in_child=_Guardian.forget)
atexit.register(_let_go)


@cache
def temporary_root() -> Path:
    """As it was at first: while Spark's Java starts, PySpark is told of another."""
    return Path(tempfile.gettempdir()).absolute()


def _folder_name() -> str:
    return f"{FOLDER_PREFIX}{os.environ[MARK_VARIABLE]}"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=_OURS_ALONE, parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error}; set TMPDIR to another place") from error
    return folder
