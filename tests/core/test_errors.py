from __future__ import annotations

import re

import pytest

from streamgauge.core import errors
from streamgauge.core.errors import (
    AgentDied,
    BadInput,
    CaseFailed,
    CorruptRun,
    StreamgaugeError,
    Unreachable,
)


@pytest.mark.parametrize(
    ("kind", "parent", "exit_code"),
    [
        (StreamgaugeError, Exception, 1),
        (BadInput, StreamgaugeError, 2),
        (CorruptRun, BadInput, 2),
        (Unreachable, StreamgaugeError, 3),
        (CaseFailed, StreamgaugeError, 1),
        (AgentDied, CaseFailed, 1),
    ],
)
def test_each_error_has_its_place_and_exit_code(
    kind: type[StreamgaugeError], parent: type[Exception], exit_code: int
) -> None:
    assert kind.__bases__ == (parent,)
    assert kind.exit_code == exit_code


def test_the_tree_drawn_at_the_top_is_the_tree_there_is() -> None:
    drawn = dict(re.findall(r"(\w+) +exit code (\d)", errors.__doc__ or ""))
    defined = {
        name: str(kind.exit_code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, StreamgaugeError)
    }
    assert drawn == defined
