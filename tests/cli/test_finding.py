from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.cli.finding import newest_run
from streamgauge.core.errors import BadInput


def test_the_newest_run_is_the_one_that_was_begun_last(tmp_path: Path) -> None:
    for name in ("20260101-120000-b-0001", "20260102-090000-a-0002", "20260103-000000-no-run"):
        (tmp_path / name).mkdir()
    for name in ("20260101-120000-b-0001", "20260102-090000-a-0002"):
        (tmp_path / name / "plan.json").write_text("{}")
    assert newest_run(str(tmp_path)).id == "20260102-090000-a-0002"


def test_where_there_is_none_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run yet; name a run folder"):
        newest_run(str(tmp_path / "runs"))
