"""Error and cause codes of TLCP that this server sends."""

from __future__ import annotations

from typing import Final


class SessionCode:
    """In CONERR and END."""

    NOT_AUTHORIZED: Final = 1
    NO_ADAPTER_SET: Final = 2
    NOT_RECOVERABLE: Final = 4
    OVERLOADED: Final = 5
    TOO_MANY_SESSIONS: Final = 8
    NO_SESSION: Final = 20
    DESTROYED_BY_CLIENT: Final = 31
    CLOSED_BY_SERVER: Final = 32
    REBOUND_ELSEWHERE: Final = 40
    VERSION: Final = 60
    BAD_ARGUMENT: Final = 65
    MALFORMED: Final = 67
    INTERNAL: Final = 68
    ALREADY_STREAMING: Final = 69


class ControlCode:
    """In REQERR, ERROR and MSGFAIL."""

    UNFILTERED: Final = 13
    NO_KEY_FIELD: Final = 15
    NO_COMMAND_FIELD: Final = 16
    NO_DATA_ADAPTER: Final = 17
    NO_SUBSCRIPTION: Final = 19
    NO_SESSION: Final = 20
    BAD_GROUP: Final = 21
    BAD_SCHEMA: Final = 23
    BAD_MODE: Final = 24
    BAD_SELECTOR: Final = 25
    MESSAGE_NUMBER_USED: Final = 32
    MESSAGE_FAILED: Final = 34
    MESSAGE_SKIPPED: Final = 38
    MESSAGES_SKIPPED: Final = 39
    NO_MOBILE_PUSH: Final = 40
    BAD_ARGUMENT: Final = 65
    ADAPTER_FAILED: Final = 66
    MALFORMED: Final = 67
    INTERNAL: Final = 68
