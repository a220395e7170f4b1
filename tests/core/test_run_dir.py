from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir, runs_in

from .properties import few_untimed
from .s3_of_another_region import of_another_region

locations = pytest.mark.parametrize("scheme", ["", "file://"], ids=["path", "url"])


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir.create(str(tmp_path), "some")


def planned(runs_folder: str, name: str) -> RunDir:
    run = RunDir.create(runs_folder, name)
    run.write_json(run.plan, {})
    return run


def files_in(run: RunDir) -> list[str]:
    return [str(path.relative_to(run.local())) for path in run.local().rglob("*") if path.is_file()]


def test_a_new_run_is_named_by_time_and_name_and_no_two_are_the_same(tmp_path: Path) -> None:
    runs = [RunDir.create(str(tmp_path / "deep" / "down"), "e2e") for _ in range(20)]
    assert len({run.id for run in runs}) == 20
    assert all(re.fullmatch(r"\d{8}-\d{6}-e2e-[0-9a-f]{4}", run.id) for run in runs)
    assert all(run.local().is_dir() for run in runs)


def test_a_folder_that_cannot_be_made_is_one_line_that_names_the_flag(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"--out .*file") as caught:
        RunDir.create(str(tmp_path / "file"), "e2e")
    assert "\n" not in str(caught.value)


@locations
def test_a_run_is_opened_where_it_was_made(tmp_path: Path, scheme: str) -> None:
    made = planned(f"{scheme}{tmp_path}", "some")
    opened = RunDir.open(made.location + "/")
    assert opened == made
    assert opened.is_local
    assert opened.local(opened.plan) == tmp_path / made.id / "plan.json"
    assert opened.url("events") == f"{scheme}{tmp_path}/{made.id}/events"


def test_a_relative_location_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = planned("runs", "some")
    assert run.location == str(tmp_path / "runs" / run.id)
    assert RunDir.open(f"runs/{run.id}") == run


@locations
def test_a_run_that_is_not_there_cannot_be_opened(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(BadInput, match="nowhere: no such run folder"):
        RunDir.open(f"{scheme}{tmp_path}/nowhere")


def test_a_file_is_no_run_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="no such run folder"):
        RunDir.open(str(tmp_path / "file"))


def test_a_folder_without_a_plan_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(CorruptRun, match=r"no plan\.json"):
        RunDir.open(str(tmp_path))


@pytest.mark.parametrize("location", ["nonsense://x/y", "file://relative/path"])
def test_a_url_that_nobody_understands_is_named(location: str) -> None:
    with pytest.raises(BadInput, match="cannot be used as a run folder") as caught:
        RunDir.open(location)
    assert str(caught.value).startswith(location)


@locations
def test_runs_are_listed_oldest_first_and_other_folders_left_out(tmp_path: Path, scheme: str) -> None:
    for name in ("20240102-x", "20240101-y", "20240103-z"):
        RunDir(f"{tmp_path}/{name}").write_json("plan.json", {})
    (tmp_path / "20240100-no-plan").mkdir()
    (tmp_path / "plan.json").write_text("{}")
    assert [run.id for run in runs_in(f"{scheme}{tmp_path}")] == ["20240101-y", "20240102-x", "20240103-z"]


def test_where_there_are_no_runs_the_list_is_empty(tmp_path: Path) -> None:
    assert runs_in(str(tmp_path / "nowhere")) == []
    assert runs_in(str(tmp_path)) == []


@locations
def test_files_are_listed_in_order_below_a_folder_by_suffix(tmp_path: Path, scheme: str) -> None:
    run = RunDir.create(f"{scheme}{tmp_path}", "some")
    for name in ("events/b.parquet", "events/case=1/a.parquet", "events/a.txt", "elsewhere.parquet"):
        run.write_text(name, "x")
    assert list(run.list_files("events", ".parquet")) == ["events/b.parquet", "events/case=1/a.parquet"]
    assert list(run.list_files("events")) == ["events/a.txt", "events/b.parquet", "events/case=1/a.parquet"]
    assert list(run.list_files("nowhere")) == []


def test_every_event_file_has_a_name_of_its_own(run: RunDir) -> None:
    names = {
        run.event_file(table, case, agent, part)
        for table in ("sends", "marks")
        for case in ("001", "002")
        for agent in ("producer-0", "producer-1")
        for part in (0, 1, 100_000)
    }
    assert len(names) == 24
    assert run.event_file("sends", "001", "producer-0", 1) == "events/sends/case=001/producer-0-00001.parquet"
    assert all(name.startswith((run.events("sends"), run.events("marks"))) for name in names)


@given(content=st.binary(max_size=2000), earlier=st.none() | st.binary(max_size=50))
@few_untimed
def test_what_is_written_is_read_back_whole_and_nothing_lies_beside_it(
    content: bytes, earlier: bytes | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = RunDir(folder)
        if earlier is not None:
            run.write_bytes("deep/file", earlier)
        run.write_bytes("deep/file", content)
        assert run.local("deep/file").read_bytes() == content
        assert files_in(run) == ["deep/file"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@few_untimed
def test_text_is_read_back_as_it_was_written(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = RunDir(folder)
        run.write_text("text", text)
        assert run.read_text("text") == text


def test_a_file_takes_its_name_only_when_it_is_complete(run: RunDir) -> None:
    run.write_text("file", "old")
    with run.open_output("file") as stream:
        stream.write(b"half")
        stream.flush()
        assert run.read_text("file") == "old"
        unfinished = set(files_in(run)) - {"file"}
        assert all(name.startswith("_") for name in unfinished), "datasets pass over leading underscores"
    assert run.read_text("file") == "half"


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(run: RunDir) -> None:
    run.write_text("file", "old")

    def write_half() -> None:
        with run.open_output("file") as stream:
            stream.write(b"half")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_half()
    assert run.read_text("file") == "old"
    assert files_in(run) == ["file"]


def test_a_file_that_cannot_get_its_name_leaves_nothing_behind(run: RunDir) -> None:
    run.write_text("taken/inside", "a folder has the name")
    with pytest.raises(BadInput, match="taken: cannot be written"):
        run.write_text("taken", "text")
    assert files_in(run) == ["taken/inside"]


def test_json_is_read_back_and_keeps_its_letters(run: RunDir) -> None:
    run.write_json("value.json", {"a": [1, 2.5, None], "µ": "é"})
    assert run.read_json("value.json") == {"a": [1, 2.5, None], "µ": "é"}
    assert '"µ": "é"' in run.read_text("value.json")


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "missing"), (b"{", "not valid JSON"), (b"", "not valid JSON"), (b"\xff\xfe", "cannot be read")],
)
def test_a_file_that_cannot_be_read_is_named(run: RunDir, content: bytes | None, fault: str) -> None:
    if content is not None:
        run.write_bytes("plan.json", content)
    with pytest.raises(CorruptRun, match=fault) as caught:
        run.read_json("plan.json")
    assert str(caught.value).startswith(run.url("plan.json"))


def test_has_tells_what_is_there(run: RunDir) -> None:
    assert not run.has("events")
    run.write_text("events/one", "x")
    assert run.has("events")
    assert run.has("events/one")
    assert not run.has("events/two")


def test_what_was_about_to_be_written_is_removed_and_nothing_else(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    for path in (
        "events/sends/_a-0.parquet.0123abcd",
        "_status.json.ffffffff",
        "results/_SUCCESS",
        "_x.txt",
        "a",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("half")
    run.remove_unfinished()
    assert list(run.list_files("")) == ["_x.txt", "a", "results/_SUCCESS"]


@pytest.mark.parametrize("status", [301, 307, 400])
def test_a_store_of_another_region_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with of_another_region(status) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        words = "the bucket is in region eu-central-1, and AWS_DEFAULT_REGION is us-east-1"
        with pytest.raises(BadInput, match=rf"^--out s3a://bucket/runs: .*; {words}$"):
            RunDir.create("s3a://bucket/runs", "e2e")


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ({"AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-west-2"}, "AWS_DEFAULT_REGION is us-east-1"),
        ({"AWS_REGION": "us-west-2"}, "AWS_REGION is us-west-2"),
        ({}, "AWS_DEFAULT_REGION is not set"),
    ],
)
def test_who_reads_from_a_store_of_another_region_is_told_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, region: dict[str, str], words: str
) -> None:
    with of_another_region() as variables:
        for name, value in ({**variables, "AWS_DEFAULT_REGION": "", "AWS_REGION": ""} | region).items():
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        told = rf": .*; the bucket is in region eu-central-1, and {words}$"
        with pytest.raises(BadInput, match=r"^s3a://bucket/runs/one: cannot be opened" + told) as refused:
            RunDir.open("s3a://bucket/runs/one")
        assert "\n" not in str(refused.value)
        assert "configured region" not in str(refused.value), "pyarrow says that it is ''"
        with pytest.raises(BadInput, match=r"^s3a://bucket/runs: cannot be looked into" + told):
            runs_in("s3a://bucket/runs")


@pytest.mark.parametrize("status", [301, 307, 400])
def test_a_store_with_the_same_status_for_another_reason_is_not_taken_for_one_of_another_region(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """An expired token, a proxy that sends people elsewhere."""
    with of_another_region(status, region="") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(BadInput, match=r"^--out s3a://bucket/runs: cannot make") as refused:
            RunDir.create("s3a://bucket/runs", "e2e")
        assert "region" not in str(refused.value)
