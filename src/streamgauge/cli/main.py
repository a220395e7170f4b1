"""Where `streamgauge` begins and ends: signals, what becomes of an error, and the exit code.

Hardly anything is imported before the signals are seen to, so that one in the first second, while
everything else is imported, finds us ready.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Whoever ends us, Ctrl-C, a scheduler or a terminal that closes: all the same, with nothing left running."""

_received: list[int] = []

_AGAIN_S = 0.02


def main() -> None:
    """Errors are one line each, unless asked for more; the exit code says whose fault it is."""
    _on_endings(_leave)
    from contextlib import suppress

    from streamgauge.cli.commands import app
    from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE
    from streamgauge.core.guardian import farewell, own_mark

    own_mark()
    debug = "-d" in sys.argv or "--debug" in sys.argv
    _log(debug=debug)
    try:
        _insist_on_endings()
        _on_endings(_interrupt)
        code = _carry_out(app, debug)
    except KeyboardInterrupt:
        code = INTERRUPTED_EXIT_CODE
    with suppress(KeyboardInterrupt):
        farewell(is_hurried=bool(_received))
    if _received and code == INTERRUPTED_EXIT_CODE:
        code = 128 + _received[0]
    _flush()
    # The interpreter's farewell takes a while too, and has nothing left to end well.
    _on_endings(_leave)
    sys.exit(code)


def _log(*, debug: bool) -> None:
    """Our own words: stages, agents, clients' errors. Of libraries warnings only: what py4j says at length is
    its protocol, with the token that lets anybody command our Java."""
    import logging

    form = "%(asctime)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.WARNING if debug else logging.CRITICAL + 1, format=form)
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    if debug:
        logging.getLogger("streamgauge").setLevel(logging.DEBUG)


def _carry_out(app: Callable[[], object], debug: bool) -> int:
    import traceback

    from streamgauge.core.errors import StreamgaugeError

    try:
        app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except StreamgaugeError as error:
        if debug:
            traceback.print_exc()
        for line in str(error).splitlines():
            _say(line)
        return error.exit_code
    except BrokenPipeError:
        return 1  # Whoever read our output has gone (`| head`); nothing more can be said.
    except OSError as error:
        if debug:
            traceback.print_exc()
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        return 2
    return 0


def _on_endings(handler: Callable[[int, FrameType | None], None]) -> None:
    for ending in _ENDINGS:
        # Whoever starts us with a signal ignored (`nohup`, `&` in a script) wants us to live through it.
        if signal.getsignal(ending) is not signal.SIG_IGN:
            signal.signal(ending, handler)


def _insist_on_endings() -> None:
    """An interrupt that strikes where Python can raise nothing (a hook of `fork`, the callback of a weak
    reference) is dropped with a word: it comes again until it is heard."""
    told = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            told(unraisable)

    signal.signal(signal.SIGALRM, _interrupt_again)
    sys.unraisablehook = hook


def _leave(number: int, frame: FrameType | None) -> None:
    """At once: there is nothing yet, or nothing any more, that would have to be ended well."""
    os._exit(128 + (_received[0] if _received else number))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C does by itself; but it is remembered which it was."""
    _received.append(number)
    raise KeyboardInterrupt


def _interrupt_again(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str) -> None:
    print(f"streamgauge: {line}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
