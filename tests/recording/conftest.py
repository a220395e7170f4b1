from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.recording import columns

from .recorder import Recorder

SMALL_CHUNK = 8


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


@pytest.fixture(scope="module")
def small_chunks() -> Iterator[None]:
    """Chunks of 8 rows, so that their edges are met all the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "CHUNK_ROWS", SMALL_CHUNK)
        yield
