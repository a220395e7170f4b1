"""A roll-up counts when its file is there; the rest is done as often as it takes."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.plan.roll_up_file import PART, RollUp, drop_unfinished, finish, last_roll_up, part_folders

OLD, NEW = (
    "events/sends/case=001/producer-0-00000.parquet",
    "events/sends/case=001/producer-0-00000r00001.parquet",
)


def a_run(folder: Path) -> RunDir:
    run = RunDir(str(folder))
    run.write_text(OLD, "old")
    run.write_text(f"{run.rolled('001', 1)}/rest.parquet", "rest")
    return run


def test_nothing_happens_before_its_file_is_there(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    finish(run, "001")
    assert (run.read_text(OLD), last_roll_up(run, "001")) == ("old", None)
    drop_unfinished(run, "001")
    assert list(run.list_files(run.rolled("001"))) == []


def test_what_was_begun_is_finished_and_once_is_as_good_as_twice(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    part = RollUp(number=1, replaces=(OLD,), rest={"rest.parquet": NEW}, messages=7, sends=((0, 3, 10),))
    run.write_text(f"{run.rolled('001', 1)}/{PART}", part.model_dump_json())
    for _ in range(2):
        finish(run, "001")
        drop_unfinished(run, "001")
        assert not run.has(OLD)
        assert run.read_text(NEW) == "rest"
    assert last_roll_up(run, "001") == part
    assert part_folders(run, "001") == [run.rolled("001", 1)]
    assert part.gone_sends.rows() == [[0, 3, 10]]
