"""Who has come to a leader, as it says it; with followers that only pretend."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.cli import leader
from streamgauge.core.errors import Unreachable
from streamgauge.launch.same_version import own_version
from streamgauge.launch.standalone import JoinedFollower

LEFT = JoinedFollower("left", "10.0.0.2", 2, own_version())
OLD = JoinedFollower("right", "10.0.0.3", 2, "0.1.9")


class Master:
    """Knows of one more look after another; then of nobody else."""

    has_ended, master = False, "spark://10.0.0.1:7077"

    def __init__(self, *looks: list[JoinedFollower]) -> None:
        self._looks = list(looks)

    def followers(self) -> list[JoinedFollower]:
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "_LOOK_S", 0.0)


def attendance(expected: int, *looks: list[JoinedFollower]) -> Any:
    master: Any = Master(*looks)
    return leader._Attendance(master, expected, keeps=False)


def test_a_follower_of_another_version_is_named_once_and_does_not_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    attendance(1, [OLD], [OLD], [OLD, LEFT]).keep(60.0)
    said = [line for line in capsys.readouterr().err.splitlines() if "followers: " in line]
    assert said == [
        "0 of 1 followers: waiting",
        "0 of 1 followers: right (10.0.0.3) has streamgauge 0.1.9 and does not count: this is "
        f"{own_version()}; end it, and install the same on both",
        "1 of 1 followers: left (10.0.0.2) joined with 2 cores",
    ]


def test_who_came_within_the_deadline_is_said() -> None:
    with pytest.raises(Unreachable, match="only 1 of 2 followers came within 0 s: left"):
        attendance(2, [LEFT, OLD]).keep(0.0)
