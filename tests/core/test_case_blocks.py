from pathlib import Path

from streamgauge.core.case_blocks import CASES_A_BLOCK, note_case, read_by_case
from streamgauge.core.run_dir import RunDir

FILE = "things.json"


def test_few_cases_are_one_file(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    assert read_by_case(run, FILE) == {}
    for number in range(CASES_A_BLOCK):
        note_case(run, FILE, f"{number}", {"n": number})
    assert run.read_json(FILE)["7"] == {"n": 7}
    assert list(run.list_files("")) == [FILE]


def test_a_case_writes_no_more_than_a_hundred_however_many_there_are(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    for number in range(3 * CASES_A_BLOCK + 1):
        note_case(run, FILE, f"{number:04d}", number)
    files = list(run.list_files(""))
    assert [len(run.read_json(file)) for file in files] == [CASES_A_BLOCK, CASES_A_BLOCK, 1, CASES_A_BLOCK]
    assert read_by_case(run, FILE) == {f"{n:04d}": n for n in range(3 * CASES_A_BLOCK + 1)}


def test_what_is_noted_last_of_a_case_counts(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    for number in range(CASES_A_BLOCK + 1):
        note_case(run, FILE, f"{number}", "first")
    note_case(run, FILE, "3", "again")
    note_case(run, FILE, "3", "and again")
    found = read_by_case(run, FILE)
    assert (found["3"], found["4"]) == ("and again", "first")
