from __future__ import annotations

import pyarrow as pa

from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.report.document import causes_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.results import CAUSES


def test_causes_come_back_from_their_table_as_they_went_in() -> None:
    causes = [
        cause(CauseCode.RATE_MISSED, sent_per_s=500.5, wanted_per_s=1000.0),
        cause(CauseCode.RECORDED, "an agent said: no"),
        cause(CauseCode.TRIALS_FAILED, "timed out", "b", failed_count=2, trial_count=39),
    ]
    rows = [*cause_rows("001", "validity", causes, "a place"), *cause_rows("001", "note", causes[:1])]
    tables = ResultTables({CAUSES.name: pa.Table.from_pylist(rows, schema=CAUSES.arrow_schema())})
    assert causes_of(tables, "001", "validity", "a place") == causes
    assert causes_of(tables, "001", "validity") == []
    assert causes_of(tables, "002", "note") == []
    [again] = causes_of(tables, "001", "note")
    assert again.figures == {"sent_per_s": 500.5, "wanted_per_s": 1000.0}
    assert type(causes_of(tables, "001", "validity", "a place")[2].figures["trial_count"]) is int
