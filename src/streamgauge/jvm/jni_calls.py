"""Counting JNI calls: every function of Java's native interface that is called in this process.

Java itself has the means: JVMTI lets one replace the table of JNI functions. Ours has, for each function, a
few bytes of machine code that add one to a counter and jump on to the original; they are written here, so
no C compiler is needed. Counted are all calls from native code into Java, by any thread: those of the
bridge between Python and Java, and those of Java's own native libraries (sockets, compression). Not counted
is what Java calls in native code. Counting costs some nanoseconds a call, so it is not for timed work.

It needs x86-64 and a system that lets a process write code; elsewhere `switch_on` says why it cannot.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
import threading
from typing import Any

from streamgauge.core.errors import StreamgaugeError

_JVMTI_VERSION = 0x30010200
_GET_ENV = 6
_SET_TABLE, _GET_TABLE = 119, 120
# All functions since Java 9. Newer ones come behind them, and are left as they are.
_FIRST_FUNCTION, _LAST_FUNCTION = 4, 233
_PROT_READ, _PROT_EXEC = 1, 4
_THUNK_BYTES = 32


class CannotCount(StreamgaugeError):
    """JNI calls cannot be counted on this machine."""


def switch_on(library: str) -> None:
    """Begin to count; `library`: the path of the Java that runs in this process."""
    _counting.switch_on(library)


def switch_off() -> None:
    """As often as it was switched on; then Java has its own table back."""
    _counting.switch_off()


def calls() -> int:
    """How many there have been while it was on, since the process began."""
    return _counting.calls()


class _Counting:
    """Several may want it at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._tables: _Tables | None = None

    def switch_on(self, library: str) -> None:
        with self._lock:
            if self._tables is None:
                self._tables = _Tables(library)
            if self._users == 0:
                self._tables.use(counting=True)
            self._users += 1

    def switch_off(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._tables is not None:
                self._tables.use(counting=False)

    def calls(self) -> int:
        return 0 if self._tables is None else self._tables.total()


_counting = _Counting()


class _Tables:
    """Java's own table of functions, and the one that counts."""

    def __init__(self, library: str) -> None:
        if platform.machine().lower() not in ("x86_64", "amd64") or sys.platform == "win32":
            raise CannotCount(f"JNI calls cannot be counted on {sys.platform} {platform.machine()}")
        self._env = _jvmti(library)
        self._own, self._counting = self._copy(), self._copy()
        self._counters = (ctypes.c_uint64 * (_LAST_FUNCTION + 1))()
        self._code = self._write_thunks()

    def use(self, *, counting: bool) -> None:
        table = self._counting if counting else self._own
        set_table = _function(self._env, _SET_TABLE, ctypes.c_void_p)
        _check(set_table(self._env, table), "SetJNIFunctionTable")

    def total(self) -> int:
        return sum(self._counters)

    def _copy(self) -> ctypes.c_void_p:
        table = ctypes.c_void_p()
        get_table = _function(self._env, _GET_TABLE, ctypes.POINTER(ctypes.c_void_p))
        _check(get_table(self._env, ctypes.byref(table)), "GetJNIFunctionTable")
        return table

    def _write_thunks(self) -> mmap.mmap:
        """Never unmapped: a thread may be inside when the table is changed."""
        assert self._counting.value is not None
        code = mmap.mmap(-1, _THUNK_BYTES * (_LAST_FUNCTION + 1))
        begin = ctypes.addressof(ctypes.c_char.from_buffer(code))
        functions = (ctypes.c_uint64 * (_LAST_FUNCTION + 1)).from_address(self._counting.value)
        for number in range(_FIRST_FUNCTION, _LAST_FUNCTION + 1):
            counter = ctypes.addressof(self._counters) + 8 * number
            code.seek(_THUNK_BYTES * number)
            code.write(_thunk(counter, functions[number]))
            functions[number] = begin + _THUNK_BYTES * number
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if libc.mprotect(begin, len(code), _PROT_READ | _PROT_EXEC) != 0:
            raise CannotCount("JNI calls cannot be counted: the system does not let this process write code")
        return code


def _thunk(counter: int, original: int) -> bytes:
    """Register 11 is free at the entry of any function; arguments and their number stay as they are."""
    return (
        b"\x49\xbb"
        + struct.pack("<Q", counter)  # mov r11, counter
        + b"\xf0\x49\xff\x03"  # lock inc qword [r11]
        + b"\x49\xbb"
        + struct.pack("<Q", original)  # mov r11, original
        + b"\x41\xff\xe3"  # jmp r11
    )


def _jvmti(library: str) -> ctypes.c_void_p:
    """The tool interface of the Java that runs in this process."""
    java, count = ctypes.c_void_p(), ctypes.c_int()
    _check(
        ctypes.CDLL(library).JNI_GetCreatedJavaVMs(ctypes.byref(java), 1, ctypes.byref(count)), "find Java"
    )
    if count.value != 1:
        raise CannotCount(f"JNI calls cannot be counted: {library} does not run in this process")
    env = ctypes.c_void_p()
    get_env = _function(java, _GET_ENV, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int)
    _check(get_env(java, ctypes.byref(env), _JVMTI_VERSION), "GetEnv")
    return env


def _function(owner: ctypes.c_void_p, number: int, *arguments: Any) -> Any:
    """A function of an interface that begins with a pointer to its table."""
    assert owner.value is not None
    table = ctypes.c_uint64.from_address(owner.value).value
    address = ctypes.c_uint64.from_address(table + 8 * number).value
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *arguments)(address)


def _check(code: int, what: str) -> None:
    if code != 0:
        raise CannotCount(f"JNI calls cannot be counted: {what} failed with code {code}")
