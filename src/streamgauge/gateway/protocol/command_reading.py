"""From request lines to commands; what is wrong with a parameter is told with the id of its request."""

from __future__ import annotations

import re

from streamgauge.gateway.protocol.bounds import GRANTED, LONGEST_NAME, LONGEST_SEQUENCE
from streamgauge.gateway.protocol.codes import ControlCode, SessionCode
from streamgauge.gateway.protocol.commands import (
    ALL_DIFFS,
    UNFILTERED,
    UNLIMITED,
    Binding,
    BindSession,
    CheckWebSocket,
    Command,
    Constrain,
    CreateSession,
    Destroy,
    Diff,
    ForceRebind,
    Frequency,
    Heartbeat,
    Mode,
    Polling,
    Reconfigure,
    SendMessage,
    Subscribe,
    Unsubscribe,
)
from streamgauge.gateway.protocol.requests import BadRequest, RequestLine

_MODES: dict[str, Mode] = {"MERGE": "MERGE", "DISTINCT": "DISTINCT", "RAW": "RAW", "COMMAND": "COMMAND"}
_MOBILE_PUSH_OPS = frozenset({"register", "activate", "deactivate", "pn_reconf", "reset_badge"})
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}(\.\d{1,12})?", re.ASCII)


def command(line: RequestLine) -> Command:
    """The command in a request line; raises BadRequest."""
    given = _Parameters(line)
    match line.name:
        case "wsok":
            return CheckWebSocket()
        case "heartbeat":
            return Heartbeat(given.text("LS_session"))
        case "create_session":
            return _create_session(given)
        case "bind_session":
            return BindSession(given.text("LS_session"), given.whole("LS_recovery_from"), _binding(given))
        case "msg":
            return _message(given)
        case _:
            return _control(given)


class _Parameters:
    """Reads parameters one by one."""

    def __init__(self, line: RequestLine) -> None:
        self.name, self._given = line.name, line.parameters
        request_id = line.parameters.get("LS_reqId")
        self.request_id = request_id if request_id and request_id.isascii() and request_id.isalnum() else None

    def bad(self, code: int, message: str) -> BadRequest:
        return BadRequest(code, message, self.request_id, self.name)

    def text(self, key: str) -> str | None:
        return self._given.get(key)

    def required(self, key: str) -> str:
        value = self._given.get(key)
        if not value:
            raise self.bad(ControlCode.MALFORMED, f"{key} is missing")
        return value

    def required_id(self) -> str:
        if self.request_id is None:
            raise self.bad(ControlCode.MALFORMED, "LS_reqId is missing or not made of letters and digits")
        return self.request_id

    def flag(self, key: str, default: bool) -> bool:
        value = self._given.get(key)
        if value is None:
            return default
        if value not in ("true", "false"):
            raise self.bad(ControlCode.BAD_ARGUMENT, f"{key} must be true or false")
        return value == "true"

    def whole(self, key: str) -> int | None:
        value = self._given.get(key)
        if value is None:
            return None
        if not _WHOLE.fullmatch(value):
            raise self.bad(ControlCode.BAD_ARGUMENT, f"{key} must be a whole number")
        return int(value)

    def granted(self, key: str) -> int | None:
        """A time or a size, as far as it is granted."""
        asked = self.whole(key)
        return None if asked is None else int(GRANTED[key].nearest(asked))

    def granted_rate(self, key: str, value: str) -> float:
        if not _DECIMAL.fullmatch(value) or float(value) == 0:
            raise self.bad(ControlCode.BAD_ARGUMENT, f"{key} must be a number above 0")
        return GRANTED[key].nearest(float(value))

    def words(self, key: str, code: int) -> tuple[str, ...]:
        words = tuple(self.required(key).split(" "))
        if not all(words):
            raise self.bad(code, f"{key} has an empty name in it")
        if max(map(len, words)) > LONGEST_NAME:
            raise self.bad(code, f"{key} has a name in it of more than {LONGEST_NAME} characters")
        return words


def _create_session(given: _Parameters) -> CreateSession:
    if len(given.text("LS_user") or "") > LONGEST_NAME:
        raise given.bad(SessionCode.BAD_ARGUMENT, f"LS_user may have {LONGEST_NAME} characters")
    return CreateSession(
        adapter_set=given.text("LS_adapter_set") or "DEFAULT",
        user=given.text("LS_user"),
        password=given.text("LS_password"),
        bandwidth_kbps=_bandwidth(given),
        diffs=_diffs(given.text("LS_supported_diffs")),
        old_session=given.text("LS_old_session"),
        binding=_binding(given),
    )


def _binding(given: _Parameters) -> Binding:
    polling = None
    if given.flag("LS_polling", False):
        polling = Polling(given.granted("LS_polling_millis") or 0, given.granted("LS_idle_millis") or 0)
    return Binding(
        polling=polling,
        keepalive_ms=given.granted("LS_keepalive_millis"),
        inactivity_ms=given.granted("LS_inactivity_millis"),
        content_length=given.granted("LS_content_length"),
        sends_sync=polling is None and given.flag("LS_send_sync", True),
        reduces_head=given.flag("LS_reduce_head", False),
    )


def _diffs(tags: str | None) -> frozenset[Diff]:
    """Formats that are not known here cannot be used anyway."""
    if tags is None:
        return ALL_DIFFS
    named = {tag.strip() for tag in tags.split(",")}
    return frozenset(diff for diff in ALL_DIFFS if diff in named)


def _bandwidth(given: _Parameters) -> float | None:
    value = given.text("LS_requested_max_bandwidth")
    if value is None or value == "unlimited":
        return None
    return given.granted_rate("LS_requested_max_bandwidth", value)


def _control(given: _Parameters) -> Command:
    request_id, session = given.required_id(), given.text("LS_session")
    match op := given.required("LS_op"):
        case "add":
            return _subscribe(given, request_id, session)
        case "delete":
            return Unsubscribe(request_id, session, _sub_id(given), given.flag("LS_ack", True))
        case "reconf":
            wanted = given.text("LS_requested_max_frequency")
            frequency = None if wanted is None else _frequency(given, unfiltered_allowed=False)
            return Reconfigure(request_id, session, _sub_id(given), frequency)
        case "constrain":
            changes = given.text("LS_requested_max_bandwidth") is not None
            return Constrain(request_id, session, _bandwidth(given), changes)
        case "force_rebind":
            polling_ms = given.granted("LS_polling_millis") or 0
            return ForceRebind(request_id, session, polling_ms, given.flag("LS_close_socket", False))
        case "destroy":
            return _destroy(given, request_id, session)
        case _ if op in _MOBILE_PUSH_OPS:
            raise given.bad(ControlCode.NO_MOBILE_PUSH, "mobile push notifications are not available")
        case _:
            raise given.bad(ControlCode.BAD_ARGUMENT, "LS_op is not known")


def _subscribe(given: _Parameters, request_id: str, session: str | None) -> Subscribe:
    mode = _MODES.get(given.required("LS_mode"))
    if mode is None:
        raise given.bad(ControlCode.BAD_MODE, "LS_mode must be MERGE, DISTINCT, RAW or COMMAND")
    if given.text("LS_selector"):
        raise given.bad(ControlCode.BAD_SELECTOR, "there are no selectors here")
    snapshot, length = _snapshot(given, mode)
    return Subscribe(
        request_id=request_id,
        session=session,
        sub_id=_sub_id(given),
        data_adapter=given.text("LS_data_adapter"),
        items=given.words("LS_group", ControlCode.BAD_GROUP),
        fields=_fields(given, mode),
        mode=mode,
        snapshot=snapshot,
        snapshot_length=length,
        frequency=UNFILTERED if mode == "RAW" else _frequency(given, unfiltered_allowed=True),
        buffer_size=_buffer_size(given, mode),
        acknowledged=given.flag("LS_ack", True),
    )


def _sub_id(given: _Parameters) -> int:
    given.required("LS_subId")
    sub_id = given.whole("LS_subId")
    if not sub_id:
        raise given.bad(ControlCode.BAD_ARGUMENT, "LS_subId must be a whole number from 1 up")
    return sub_id


def _fields(given: _Parameters, mode: Mode) -> tuple[str, ...]:
    fields = given.words("LS_schema", ControlCode.BAD_SCHEMA)
    if len(set(fields)) < len(fields):
        raise given.bad(ControlCode.BAD_SCHEMA, "LS_schema names a field twice")
    if mode == "COMMAND" and "key" not in fields:
        raise given.bad(ControlCode.NO_KEY_FIELD, "a COMMAND subscription needs the field key")
    if mode == "COMMAND" and "command" not in fields:
        raise given.bad(ControlCode.NO_COMMAND_FIELD, "a COMMAND subscription needs the field command")
    return fields


def _snapshot(given: _Parameters, mode: Mode) -> tuple[bool, int | None]:
    value = given.text("LS_snapshot")
    if value is None or value in ("true", "false"):
        return value == "true" and mode != "RAW", None
    length = given.granted("LS_snapshot")
    if mode != "DISTINCT":
        raise given.bad(ControlCode.BAD_ARGUMENT, "LS_snapshot may be a number in DISTINCT mode only")
    return bool(length), length


def _frequency(given: _Parameters, *, unfiltered_allowed: bool) -> Frequency:
    value = given.text("LS_requested_max_frequency")
    if value is None or value == "unlimited":
        return UNLIMITED
    if value == "unfiltered" and unfiltered_allowed:
        return UNFILTERED
    return Frequency(given.granted_rate("LS_requested_max_frequency", value))


def _buffer_size(given: _Parameters, mode: Mode) -> int | None:
    value = given.text("LS_requested_buffer_size")
    if value is None:
        return 1 if mode == "MERGE" else None
    return None if value == "unlimited" else given.granted("LS_requested_buffer_size")


def _destroy(given: _Parameters, request_id: str, session: str | None) -> Destroy:
    code = given.text("LS_cause_code")
    if code is not None and not re.fullmatch(r"0|-\d{1,9}", code, re.ASCII):
        raise given.bad(ControlCode.BAD_ARGUMENT, "LS_cause_code must be 0 or negative")
    return Destroy(
        request_id,
        session,
        None if code is None else int(code),
        given.text("LS_cause_message"),
        given.flag("LS_close_socket", False),
    )


def _message(given: _Parameters) -> SendMessage:
    text = given.text("LS_message")
    if text is None:
        raise given.bad(ControlCode.MALFORMED, "LS_message is missing")
    number, sequence = given.whole("LS_msg_prog"), given.text("LS_sequence")
    wants_outcome = given.flag("LS_outcome", True)
    if sequence is not None and len(sequence) > LONGEST_SEQUENCE:
        raise given.bad(ControlCode.BAD_ARGUMENT, f"LS_sequence may have {LONGEST_SEQUENCE} characters")
    if number is None and (sequence is not None or wants_outcome):
        raise given.bad(ControlCode.MALFORMED, "LS_msg_prog is missing")
    return SendMessage(
        request_id=given.required_id(),
        session=given.text("LS_session"),
        text=text,
        sequence=sequence,
        number=number,
        max_wait_ms=given.granted("LS_max_wait"),
        acknowledged=given.flag("LS_ack", True),
        wants_outcome=wants_outcome,
    )
