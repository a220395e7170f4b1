from __future__ import annotations

import pytest

from streamgauge.gateway.protocol.command_reading import command
from streamgauge.gateway.protocol.commands import (
    ALL_DIFFS,
    UNFILTERED,
    UNLIMITED,
    BindSession,
    CheckWebSocket,
    Command,
    Constrain,
    CreateSession,
    Destroy,
    ForceRebind,
    Frequency,
    Heartbeat,
    Polling,
    Reconfigure,
    SendMessage,
    Subscribe,
    Unsubscribe,
)
from streamgauge.gateway.protocol.requests import BadRequest, RequestLine, websocket_requests

ADD = "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1%20item2&LS_schema=a%20b"


def read(text: str) -> Command:
    [line] = websocket_requests(text)
    assert isinstance(line, RequestLine), line
    return command(line)


def refused(text: str) -> int:
    with pytest.raises(BadRequest) as bad:
        read(text)
    return bad.value.code


def test_a_session_as_the_python_client_asks_for_it() -> None:
    created = read(
        "create_session\r\nLS_keepalive_millis=5000&LS_adapter_set=KafkaConnector&LS_user=ann"
        "&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg&LS_send_sync=false&LS_cause=api&LS_password=s%26cret"
    )
    assert isinstance(created, CreateSession)
    assert (created.adapter_set, created.user, created.password) == ("KafkaConnector", "ann", "s&cret")
    assert created.diffs == ALL_DIFFS
    assert created.bandwidth_kbps is None
    assert (created.binding.keepalive_ms, created.binding.sends_sync, created.binding.polling) == (
        5000,
        False,
        None,
    )


def test_defaults_of_a_session() -> None:
    created = read("create_session\r\nLS_cid=x")
    assert isinstance(created, CreateSession)
    assert (created.adapter_set, created.user, created.binding.sends_sync) == ("DEFAULT", None, True)


@pytest.mark.parametrize(("tags", "diffs"), [("", set()), ("P", {"P"}), ("T,P", {"T", "P"}), ("X, T", {"T"})])
def test_supported_diffs_limit_what_may_be_sent(tags: str, diffs: set[str]) -> None:
    created = read(f"create_session\r\nLS_supported_diffs={tags}")
    assert isinstance(created, CreateSession)
    assert created.diffs == diffs


def test_recovery_as_official_clients_ask_for_it() -> None:
    bound = read(
        "bind_session\r\nLS_session=S1&LS_recovery_from=15&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
    )
    assert isinstance(bound, BindSession)
    assert (bound.session, bound.recovery_from, bound.binding.polling) == ("S1", 15, Polling(0, 0))
    assert not bound.binding.sends_sync


def test_a_subscription_with_all_defaults() -> None:
    added = read(ADD)
    assert isinstance(added, Subscribe)
    assert (added.items, added.fields, added.mode) == (("item1", "item2"), ("a", "b"), "MERGE")
    assert (added.snapshot, added.snapshot_length, added.buffer_size) == (False, None, 1)
    assert (added.frequency, added.acknowledged, added.data_adapter) == (UNLIMITED, True, None)


@pytest.mark.parametrize(
    ("value", "frequency"), [("unlimited", UNLIMITED), ("unfiltered", UNFILTERED), ("2.5", Frequency(2.5))]
)
def test_frequencies(value: str, frequency: Frequency) -> None:
    added = read(f"{ADD}&LS_requested_max_frequency={value}")
    assert isinstance(added, Subscribe)
    assert added.frequency == frequency


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [
        ("MERGE", "true", (True, None)),
        ("RAW", "true", (False, None)),
        ("DISTINCT", "5", (True, 5)),
        ("DISTINCT", "0", (False, 0)),
        ("COMMAND", "false", (False, None)),
    ],
)
def test_snapshots(mode: str, given: str, expected: tuple[bool, int | None]) -> None:
    added = read(ADD.replace("MERGE", mode).replace("a%20b", "key%20command") + f"&LS_snapshot={given}")
    assert isinstance(added, Subscribe)
    assert (added.snapshot, added.snapshot_length) == expected


def test_raw_is_never_filtered() -> None:
    added = read(ADD.replace("MERGE", "RAW") + "&LS_requested_max_frequency=3")
    assert isinstance(added, Subscribe)
    assert added.frequency == UNFILTERED


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ADD.replace("LS_mode=MERGE", "LS_mode=MERGED"), 24),
        (ADD.replace("LS_mode=MERGE&", ""), 67),
        (ADD.replace("LS_mode=MERGE", "LS_mode=COMMAND"), 15),
        (ADD.replace("LS_mode=MERGE", "LS_mode=COMMAND").replace("a%20b", "key%20b"), 16),
        (ADD.replace("item1%20item2", "item1%20%20item2"), 21),
        (ADD.replace("a%20b", "a%20"), 23),
        (ADD + "&LS_selector=x", 25),
        (ADD.replace("LS_subId=1", "LS_subId=0"), 65),
        (ADD.replace("LS_subId=1", "LS_subId=one"), 65),
        (ADD + "&LS_snapshot=7", 65),
        (ADD + "&LS_snapshot=yes", 65),
        (ADD + "&LS_requested_max_frequency=0", 65),
        (ADD + "&LS_requested_max_frequency=fast", 65),
        (ADD + "&LS_requested_buffer_size=big", 65),
        (ADD + "&LS_ack=maybe", 65),
        ("control\r\nLS_op=add&LS_subId=1", 67),
        ("control\r\nLS_reqId=a.b&LS_op=add&LS_subId=1", 67),
        ("control\r\nLS_reqId=1&LS_op=explode", 65),
        ("control\r\nLS_reqId=1&LS_op=activate", 40),
        ("control\r\nLS_reqId=1", 67),
        ("control\r\nLS_reqId=1&LS_op=reconf&LS_subId=1&LS_requested_max_frequency=unfiltered", 65),
        ("control\r\nLS_reqId=1&LS_op=constrain&LS_requested_max_bandwidth=-1", 65),
        ("control\r\nLS_reqId=1&LS_op=destroy&LS_cause_code=5", 65),
        ("bind_session\r\nLS_session=S1&LS_recovery_from=x", 65),
        ("msg\r\nLS_reqId=1&LS_msg_prog=1", 67),
        ("msg\r\nLS_reqId=1&LS_message=hi", 67),
        ("msg\r\nLS_message=hi&LS_msg_prog=1", 67),
    ],
)
def test_what_is_wrong_has_its_code(text: str, code: int) -> None:
    assert refused(text) == code


def test_other_control_requests() -> None:
    assert read("control\r\nLS_reqId=2&LS_op=delete&LS_subId=3&LS_ack=false") == Unsubscribe(
        "2", None, 3, False
    )
    assert read(
        "control\r\nLS_reqId=3&LS_op=reconf&LS_subId=1&LS_requested_max_frequency=2.0"
    ) == Reconfigure("3", None, 1, Frequency(2.0))
    assert read("control\r\nLS_reqId=3&LS_op=reconf&LS_subId=1") == Reconfigure("3", None, 1, None)
    assert read(
        "control\r\nLS_reqId=4&LS_session=S&LS_op=constrain&LS_requested_max_bandwidth=50.5"
    ) == Constrain("4", "S", 50.5, True)
    assert read("control\r\nLS_reqId=4&LS_op=constrain&LS_requested_max_bandwidth=unlimited") == Constrain(
        "4", None, None, True
    )
    assert read("control\r\nLS_reqId=5&LS_op=force_rebind&LS_close_socket=true") == ForceRebind(
        "5", None, 0, True
    )
    assert read("control\r\nLS_reqId=6&LS_op=destroy&LS_cause_code=-3&LS_cause_message=bye") == Destroy(
        "6", None, -3, "bye", False
    )
    assert read("heartbeat\r\nLS_session=S") == Heartbeat("S")
    assert read("wsok") == CheckWebSocket()


def test_messages() -> None:
    assert read(
        "msg\r\nLS_reqId=11&LS_sequence=CHAT&LS_msg_prog=1&LS_message=Hello&LS_max_wait=50"
    ) == SendMessage("11", None, "Hello", "CHAT", 1, 50, True, True)
    silent = read("msg\r\nLS_reqId=1&LS_message=&LS_outcome=false&LS_ack=false")
    assert isinstance(silent, SendMessage)
    assert (silent.text, silent.number, silent.wants_outcome, silent.acknowledged) == ("", None, False, False)
