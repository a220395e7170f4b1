"""Every error streamgauge raises on purpose.

StreamgaugeError            exit code 1
├── BadInput                exit code 2: the user can mend it in a file or a flag
│   ├── CorruptRun          exit code 2: a run folder that cannot be read
│   ├── NotInstalled        exit code 2: a driver whose client library is not there
│   └── Refused             exit code 2: system under test or storage does not let us do what we must
├── Unreachable             exit code 3: the system under test does not answer
├── SystemFailed            exit code 1: a system that we start broke, or could not be started
└── CaseFailed              exit code 1: a case broke while it ran
    ├── AgentDied           exit code 1: an agent process ended before it was done
    └── GivenUp             exit code 1: somebody else broke before the start

`jvm` adds NoJava, JarsUnavailable, CompileFailed, JvmFailed and CannotCount,
each beside what raises it; the gateway adds UnsafeSettings (exit code 4).

A message is one line: what is wrong, where, and what to do. Errors of foreign
libraries are mapped to these where the library is called, nowhere else.
"""

from __future__ import annotations


class StreamgaugeError(Exception):
    """Whatever the command line shows as one line instead of a traceback."""

    exit_code = 1


class BadInput(StreamgaugeError):
    """Something the user gave is not allowed: a flag, a field, a file."""

    exit_code = 2


class CorruptRun(BadInput):
    """A run folder lacks a file, or holds one that cannot be read."""


class NotInstalled(BadInput):
    """A driver whose client library is not there; the message says how to get it."""


class Refused(BadInput):
    """Who is asked answers, and says no: to who we are, or to what we have to do there."""


class Unreachable(StreamgaugeError):
    """The system under test did not answer before the deadline."""

    exit_code = 3


class SystemFailed(StreamgaugeError):
    """A system under test that we start broke, or could not be started."""


class CaseFailed(StreamgaugeError):
    """A case broke; what it recorded until then is kept."""


class AgentDied(CaseFailed):
    """An agent process ended before its task did."""


class GivenUp(CaseFailed):
    """An agent was ready, and the case was not begun: who broke has more to say of that."""
