from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from streamgauge.gateway.server.gateway_process import LOGGER, log_to_stderr

PICOWS = logging.getLogger("streamgauge.gateway.picows")


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = LOGGER.handlers[:], LOGGER.level, LOGGER.propagate, PICOWS.level
    yield
    LOGGER.handlers[:], level, LOGGER.propagate, of_picows = before
    LOGGER.setLevel(level)
    PICOWS.setLevel(of_picows)


def test_whoever_sends_broken_frames_cannot_fill_the_log() -> None:
    log_to_stderr(logging.WARNING)
    assert LOGGER.isEnabledFor(logging.WARNING)
    assert not PICOWS.isEnabledFor(logging.ERROR)


def test_who_debugs_sees_them() -> None:
    log_to_stderr(logging.DEBUG)
    assert PICOWS.isEnabledFor(logging.ERROR)
