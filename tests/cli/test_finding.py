from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.cli.finding import find_run, newest_run
from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run

OLD, MIDDLE, NEW = "20260101-120000-b-0001", "20260102-090000-a-0002", "20260102-100000-a-0003"


@pytest.fixture(params=["", "file://"], ids=["path", "url"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where runs are looked for, three of them, and a folder that is none; we stand elsewhere."""
    for name in (OLD, MIDDLE, NEW):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "plan.json").write_text("{}")
    (tmp_path / "all" / "20260103-000000-no-run").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("STREAMGAUGE_RUNS", f"{request.param}{tmp_path}/all")
    return f"{request.param}{tmp_path}/all"


def run_of(folder: str, name: str) -> RunDir:
    return RunDir(f"{folder}/{name}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("latest", NEW),
        ("latest~0", NEW),
        ("latest~2", OLD),
        (OLD, OLD),
        ("20260101", OLD),
        ("20260102-09", MIDDLE),
    ],
)
def test_a_run_is_found_by_its_name_how_that_begins_and_as_the_latest(
    folder: str, text: str, name: str
) -> None:
    assert find_run(text) == run_of(folder, name)
    assert find_run(f"{folder}/{name}") == run_of(folder, name)


def test_a_tag_means_the_newest_of_its_runs_and_comes_before_a_beginning(folder: str) -> None:
    tag_run(run_of(folder, OLD), ["main", "2026"])
    tag_run(run_of(folder, MIDDLE), ["main"])
    assert find_run("main").id == MIDDLE
    assert find_run("2026").id == OLD


def test_a_beginning_of_several_names_is_refused_with_them(folder: str) -> None:
    with pytest.raises(BadInput, match=f"2 runs in .*all start with this: {MIDDLE}, {NEW}; give more"):
        find_run("20260102")


def test_a_run_before_the_first_is_refused(folder: str) -> None:
    with pytest.raises(BadInput, match="latest~3: there are only 3 runs"):
        find_run("latest~3")


@pytest.mark.parametrize("text", ["", "nothing", "..", "2027"])
def test_what_is_not_there_is_said_so(folder: str, text: str) -> None:
    with pytest.raises((BadInput, CorruptRun), match=r"no such run folder|not a run folder"):
        find_run(text)


def test_the_folder_asked_for_comes_before_the_remembered_one(folder: str, tmp_path: Path) -> None:
    (tmp_path / "other" / "20250101-000000-x-0001").mkdir(parents=True)
    (tmp_path / "other" / "20250101-000000-x-0001" / "plan.json").write_text("{}")
    assert find_run("latest", str(tmp_path / "other")).id == "20250101-000000-x-0001"


def test_a_run_folder_here_comes_first_and_a_folder_that_is_none_does_not(folder: str) -> None:
    tag_run(run_of(folder, OLD), ["main", "mine"])
    Path("main").mkdir()
    Path("mine").mkdir()
    Path("mine/plan.json").write_text("{}")
    assert find_run("main").id == OLD
    assert find_run("mine") == RunDir(str(Path("mine").absolute()))
    Path("empty").mkdir()
    with pytest.raises(CorruptRun, match="not a run folder"):
        find_run("empty")


def test_where_there_is_none_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run yet; name a run folder"):
        newest_run(str(tmp_path / "runs"))
