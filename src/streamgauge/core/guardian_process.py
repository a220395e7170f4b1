"""The guardian itself: waits for the end of a command, then sees to what it left (see `guardian`).

argv  the command's mark, its temporary folder, and the seconds that those whom it left have to end well
in    lines of JSON: {"promise": id, "module": …, "argument": …}, {"kept": id};
      the end of the input is the end of the command

Nothing is imported that waiting does not need: it sleeps beside what is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psutil

_KILL_DEADLINE_S = 5.0
_PROMISE_DEADLINE_S = 25.0
_POLL_S = 0.05


def main() -> None:
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    mark, folder, grace_s = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    promises: dict[str, dict[str, Any]] = {}
    for line in sys.stdin:
        _hear(line, promises)
    end_marked(mark, grace_s)
    _keep(list(promises.values()))
    remove_folders(mark, folder)
    see_to_abandoned(folder.parent, grace_s)


def _hear(line: str, promises: dict[str, dict[str, Any]]) -> None:
    try:
        message = json.loads(line)
    except ValueError:
        return  # it was killed in the middle of a word; then it had not begun what it spoke of
    if "promise" in message:
        promises[message["promise"]] = message
    promises.pop(message.get("kept", ""), None)


def see_to_abandoned(parent: Path, grace_s: float) -> None:
    """What others left whose guardian was killed as well."""
    from streamgauge.core.guardian import FOLDER_PREFIX
    from streamgauge.core.other_guardians import has_guardian
    from streamgauge.core.scratch import abandoned

    for folder in abandoned(FOLDER_PREFIX, parent):
        mark = folder.name.removeprefix(FOLDER_PREFIX)
        if not has_guardian(mark):
            end_marked(mark, grace_s)
            remove_folders(mark, folder)


def remove_folders(mark: str, folder: Path) -> None:
    from streamgauge.core.guardian import FOLDER_PREFIX, MEMORY

    for left in (folder, MEMORY / f"{FOLDER_PREFIX}{mark}"):
        shutil.rmtree(left, ignore_errors=True)


def end_marked(mark: str, grace_s: float) -> None:
    """SIGTERM to all that bear the mark, SIGKILL to those that are still there after a while."""
    for number, seconds in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_DEADLINE_S)):
        until = time.monotonic() + seconds
        told: set[int] = set()
        while left := marked(mark):
            for process in left:
                # New ones may come as long as there are any; each is told once.
                if process.pid not in told:
                    told.add(process.pid)
                    _send(process, number)
            if time.monotonic() > until:
                break
            time.sleep(_POLL_S)


def marked(mark: str) -> list[psutil.Process]:
    """Those that have it in the environment that they were started with."""
    import psutil

    from streamgauge.core.guardian import MARK_VARIABLE

    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK_VARIABLE) == mark:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # somebody else's, or gone
    return found


def _send(process: psutil.Process, number: int) -> None:
    import psutil

    try:
        process.send_signal(number)
    except psutil.Error:
        return


def _keep(promises: list[dict[str, Any]]) -> None:
    """All at once: what one of them waits for is no business of the others."""
    running = []
    for promise in promises:
        keeping = subprocess.Popen(
            [sys.executable, "-P", "-m", promise["module"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert keeping.stdin is not None
        with keeping.stdin as words:
            words.write(json.dumps(promise["argument"]))
        running.append(keeping)
    until = time.monotonic() + _PROMISE_DEADLINE_S
    for keeping in running:
        try:
            keeping.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            keeping.kill()


if __name__ == "__main__":
    main()
    os._exit(0)
