from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamgauge.payload import bodies


@pytest.fixture(scope="module")
def few_bodies() -> Iterator[None]:
    """Fewer bodies of random sizes: a property makes thousands of them a hundred times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_DRAWN_COUNT", 64)
        yield
