from __future__ import annotations

from collections.abc import Iterator

import pytest

from .server.raw_client import close_all


@pytest.fixture(autouse=True)
def _no_socket_stays_open() -> Iterator[None]:
    yield
    close_all()
