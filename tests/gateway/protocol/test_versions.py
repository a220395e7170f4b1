from __future__ import annotations

import pytest

from streamgauge.gateway.protocol.versions import NEWEST, Version, offered_subprotocol, version_named


@pytest.mark.parametrize("minor", range(6))
def test_all_versions_up_to_2_5_are_spoken(minor: int) -> None:
    assert version_named(f"TLCP-2.{minor}.0") == Version(minor)
    assert version_named(f"TLCP-2.{minor}.17") == Version(minor)


@pytest.mark.parametrize(
    "name", ["", "TLCP", "TLCP-2.6.0", "TLCP-1.0.0", "TLCP-2.5", "tlcp-2.5.0", "TLCP-2.5.0x"]
)
def test_others_are_not(name: str) -> None:
    assert version_named(name) is None


def test_features_come_with_their_version() -> None:
    assert [Version(minor).has_diffs for minor in range(6)] == [False] * 4 + [True] * 2
    assert [Version(minor).has_message_response for minor in range(6)] == [False] * 5 + [True]


def test_the_first_known_subprotocol_is_taken() -> None:
    offer = "chat, TLCP-9.0.0.lightstreamer.com, TLCP-2.5.0.lightstreamer.com,TLCP-2.0.0.lightstreamer.com"
    assert offered_subprotocol(offer) == ("TLCP-2.5.0.lightstreamer.com", NEWEST)
    assert offered_subprotocol("TLCP-2.5.0") is None
    assert offered_subprotocol("") is None
