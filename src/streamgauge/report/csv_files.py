"""Results as CSV: one file a result table, and one row a case."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import Accounting
from streamgauge.report.document import Document
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.percentile_support import DOUBTFUL, is_supported

_LISTS = ("clocks", "warm_up_course", "topics", "partitions", "seconds")
"""Parts of a case that are tables themselves, most with files of their own."""

_COUNTS = ("count", "samples")
"""Fields that say how many messages the percentiles beside them, or below, are of."""


def write_csv_files(run: RunDir, tables: ResultTables) -> list[str]:
    """`report/csv/<table>.csv` for every result table but `messages`; returns their places."""
    places = []
    for name, table in tables.tables.items():
        place = f"{run.report_csv}/{name}.csv"
        buffer = pa.BufferOutputStream()
        arrow_csv.write_csv(table, buffer)
        run.write_bytes(place, buffer.getvalue().to_pybytes())
        places.append(place)
    return places


def results_csv(document: Document) -> str:
    """One row for each item of the document's rows; a column's name is the field's path in the document."""
    found: Any = document.model_dump(mode="json")
    for name in document.row_field.split("."):
        found = found[name]
    rows = [{"run": document.run, "name": document.name, **_flat(_without_lists(row))} for row in found]
    # Cases may differ in the free parts (swept fields, topic settings): the header has them all.
    columns = [*dict.fromkeys(column for row in rows for column in row), DOUBTFUL]
    for row, of in zip(rows, found, strict=True):
        row[DOUBTFUL] = ";".join(_doubtful(_without_lists(of)))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _without_lists(row: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in row.items() if key not in _LISTS}
    if "warm_up" in kept and kept["warm_up"] is None:
        # The columns are the same with and without a warm-up.
        kept["warm_up"] = dict.fromkeys(Accounting.model_fields)
    if "objectives" in kept:
        kept["objectives"] = {each["objective"]: _outcome(each) for each in kept["objectives"]}
    return kept


def _outcome(found: dict[str, Any]) -> dict[str, Any]:
    """Of one objective: the rest is in `report/csv/objectives.csv`."""
    return {"outcome": found["outcome"], "figure": found["figure"]}


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, dict):
            flat |= _flat(item, f"{name}.")
        else:
            flat[name] = _cell(item)
    return flat


def _doubtful(value: dict[str, Any], prefix: str = "", count: int | None = None) -> Iterator[str]:
    """Columns with a percentile that has too few messages behind it."""
    count = next((value[name] for name in _COUNTS if isinstance(value.get(name), int)), count)
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _doubtful(item, f"{prefix}{key}.", count)
        elif item is not None and count is not None and not is_supported(key, count):
            yield f"{prefix}{key}"


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        if all(isinstance(item, dict) and "code" in item for item in value):
            return " ".join(str(item["code"]) for item in value)
        plain = all(isinstance(item, str) for item in value)
        return "\n".join(value) if plain else json.dumps(value, ensure_ascii=False)
    return "" if value is None else value
