from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import checked_tags, tag_run, tags_of


@pytest.fixture(params=["", "file://"], ids=["path", "url"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> RunDir:
    return RunDir.create(f"{request.param}{tmp_path}", "some")


def test_tags_are_added_once_in_their_order_and_taken_away(run: RunDir) -> None:
    assert tags_of(run) == []
    assert tag_run(run, ["main", "v1.2_rc-1"]) == ["main", "v1.2_rc-1"]
    assert tag_run(run, ["nightly", "main"]) == ["main", "v1.2_rc-1", "nightly"]
    assert tag_run(run, remove=["main"]) == tags_of(run) == ["v1.2_rc-1", "nightly"]


def test_a_run_without_tags_gets_no_file(run: RunDir) -> None:
    tag_run(run)
    assert not run.has(run.tags)


@pytest.mark.parametrize("tag", ["", "-x", "a/b", "a b", "../x", "x" * 65, "ü", "a\n"])
def test_a_tag_is_a_plain_word(tag: str) -> None:
    with pytest.raises(BadInput, match="letters, digits, dots, dashes"):
        checked_tags([tag])


@pytest.mark.parametrize("tag", ["latest", "20260102-030405", "20260102-030405-run-ab12"])
def test_a_tag_is_not_taken_for_a_name(tag: str) -> None:
    with pytest.raises(BadInput, match="run's own name"):
        checked_tags(["fine", tag])


@pytest.mark.parametrize("content", ["{}", '["a", 1]', "no JSON"])
def test_a_file_that_holds_no_tags_is_named(run: RunDir, content: str) -> None:
    run.write_text(run.tags, content)
    with pytest.raises(CorruptRun, match=r"tags\.json"):
        tags_of(run)
