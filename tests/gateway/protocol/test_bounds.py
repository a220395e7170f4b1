from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from streamgauge.gateway.protocol.bounds import GRANTED
from streamgauge.gateway.protocol.command_reading import command
from streamgauge.gateway.protocol.requests import RequestLine

NAMES = {"sub_id", "recovery_from", "number"}
"""Numbers that name something."""
BINDING = ("LS_polling_millis", "LS_idle_millis", "LS_keepalive_millis", "LS_inactivity_millis")
REQUESTS = [
    ("create_session", {"LS_polling": "true"}, (*BINDING, "LS_content_length", "LS_requested_max_bandwidth")),
    ("bind_session", {"LS_polling": "true"}, (*BINDING, "LS_content_length")),
    ("control", {"LS_op": "force_rebind"}, ("LS_polling_millis",)),
    ("control", {"LS_op": "constrain"}, ("LS_requested_max_bandwidth",)),
    ("control", {"LS_op": "reconf", "LS_subId": "1"}, ("LS_requested_max_frequency",)),
    (
        "control",
        {"LS_op": "add", "LS_subId": "1", "LS_mode": "DISTINCT", "LS_group": "i", "LS_schema": "f"},
        ("LS_snapshot", "LS_requested_buffer_size", "LS_requested_max_frequency"),
    ),
    ("msg", {"LS_message": "m", "LS_msg_prog": "1", "LS_sequence": "s"}, ("LS_max_wait",)),
]


def numbers(value: object) -> Iterator[float]:
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        held = getattr(value, field.name)
        if dataclasses.is_dataclass(held):
            yield from numbers(held)
        elif isinstance(held, int | float) and not isinstance(held, bool) and field.name not in NAMES:
            yield held


@pytest.mark.parametrize(("name", "fixed", "keys"), REQUESTS)
def test_nothing_that_a_client_asks_for_is_granted_without_bounds(
    name: str, fixed: dict[str, str], keys: tuple[str, ...]
) -> None:
    for asked, rate, bound in (("999999999999", "999999999999", 1), ("0", "0.000000000001", 0)):
        given = {key: rate if "requested_max" in key else asked for key in keys}
        found = sorted(
            numbers(command(RequestLine(name, {"LS_reqId": "1", "LS_session": "S", **fixed, **given})))
        )
        assert found == sorted(GRANTED[key][bound] for key in given)


def test_every_bound_is_held_by_a_request() -> None:
    assert set(GRANTED) == {key for _, _, keys in REQUESTS for key in keys}
