from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.report.markdown_renderer import plain

from .sample_run import HOSTILE
from .seen import markdown


def test_both_verdicts_stand_on_top(one_case: RunDir, sweep: RunDir) -> None:
    text = markdown(one_case)
    assert text.startswith("# end-to-end\n")
    assert "- Integrity: **all accounted for**\n- Validity: **valid**" in text
    text = markdown(sweep)
    assert "- Integrity: **messages lost**\n  - case 002: 7 acked messages lost" in text
    assert "- Validity: **do not quote**\n  - case 003: sent late" in text


def test_tables_are_whole_and_nothing_foreign_is_markup(sweep: RunDir) -> None:
    text = markdown(sweep)
    assert HOSTILE not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)
    header = next(line for line in tables if line.startswith("| case |"))
    rows = [line for line in tables if line.startswith(("| 001 |", "| 002 |", "| 003 |"))]
    assert {line.count("|") for line in rows} == {header.count("|")}
    assert "~10.83" in rows[2]


def test_signs_lose_their_meaning() -> None:
    assert plain("a|b *c* <d>\n e") == r"a\|b \*c\* \<d\> e"
