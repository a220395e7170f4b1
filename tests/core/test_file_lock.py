"""A lock that is waited for, but not for ever."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.file_lock import locked_within


def test_it_is_had_by_one_at_a_time_and_goes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a") as first, path.open("a") as second:
        assert locked_within(first, 0.0)
        assert not locked_within(second, 0.0)
        first.close()
        assert locked_within(second, 0.0)
