from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.report.result_tables import ResultTables, read_result
from streamgauge.tables.results import ACCOUNTING, LATENCY, VERDICTS


def test_all_tables_are_read_but_messages(one_case: RunDir) -> None:
    tables = ResultTables.read(one_case)
    assert "messages" not in tables.tables
    assert tables.tables["latency"].column_names == LATENCY.column_names


def test_rows_of_a_case_can_be_narrowed(sweep: RunDir) -> None:
    rows = ResultTables.read(sweep).rows(ACCOUNTING, "002", scope="case", phase="measure")
    assert [row["lost_write"] for row in rows] == [7]


def test_parts_are_put_together_and_unfinished_ones_left_out(one_case: RunDir) -> None:
    folder = one_case.local(one_case.result("verdicts"))
    whole = pq.read_table(folder / "part-00000.parquet")
    pq.write_table(whole, folder / "part-00001.parquet")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part-00002.parquet").write_bytes(b"half a file")
    assert read_result(one_case, VERDICTS).num_rows == 2


def test_a_missing_table_says_what_to_run(one_case: RunDir) -> None:
    (one_case.local(one_case.result("verdicts")) / "part-00000.parquet").unlink()
    with pytest.raises(CorruptRun, match=r"verdicts: missing; run `streamgauge analyze .*one-case` first$"):
        read_result(one_case, VERDICTS)


def test_a_broken_file_is_named_in_one_line(one_case: RunDir) -> None:
    (one_case.local(one_case.result("verdicts")) / "part-00000.parquet").write_bytes(b"not Parquet")
    with pytest.raises(CorruptRun, match=r"verdicts/part-00000.parquet: cannot be read") as caught:
        read_result(one_case, VERDICTS)
    assert "\n" not in str(caught.value)


def test_a_table_that_lacks_a_column_is_named(one_case: RunDir) -> None:
    path = one_case.local(one_case.result("verdicts")) / "part-00000.parquet"
    pq.write_table(pa.table({"case": ["001"]}), path)
    with pytest.raises(CorruptRun, match=r"result table `verdicts`: .*: streamgauge analyze "):
        read_result(one_case, VERDICTS)
