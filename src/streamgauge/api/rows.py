"""Rows of a result table, as whichever library wants them: Arrow, pandas, Polars or Spark."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamgauge.core.errors import NotInstalled
from streamgauge.core.run_dir import RunDir
from streamgauge.report.markup import data_table
from streamgauge.report.result_tables import missing_result, read_result, result_files
from streamgauge.tables.column import Table

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 10


class Rows:
    """Read when they are asked for. Everything that an Arrow table can, this can, too."""

    def __init__(self, run: RunDir, table: Table) -> None:
        self._run, self._table = run, table

    @property
    def name(self) -> str:
        return self._table.name

    @cached_property
    def _arrow(self) -> pa.Table:
        return read_result(self._run, self._table)

    def to_arrow(self) -> pa.Table:
        """All of them in memory."""
        return self._arrow

    def to_pandas(self) -> pd.DataFrame:
        found: pd.DataFrame = self._arrow.to_pandas()
        return found

    def to_polars(self) -> Any:
        """A `polars.DataFrame`; `pip install polars`."""
        try:
            import polars
        except ImportError:
            raise NotInstalled("polars is not installed here; pip install polars") from None
        return polars.from_arrow(self._arrow)

    def to_spark(self, session: Any) -> Any:
        """A DataFrame of this session, which reads the files itself: rows need not fit into memory."""
        files = result_files(self._run, self._table)
        if not files:
            raise missing_result(self._run, self._table)
        return session.read.parquet(*(self._run.url(file) for file in files)).select(self._table.column_names)

    @property
    def num_rows(self) -> int:
        return int(self._arrow.num_rows)

    def __len__(self) -> int:
        return self.num_rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """How other libraries take it without copying: `duckdb.sql("from rows")`."""
        return self._arrow.__arrow_c_stream__(requested_schema)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._arrow, name)

    def __repr__(self) -> str:
        return f"<Rows {self.name}: {self.num_rows} × {len(self._table.columns)}>"

    def _repr_html_(self) -> str:
        """The first few, for a notebook."""
        names = self._table.column_names
        rows = [[row[name] for name in names] for row in self._arrow.slice(0, _SHOWN).to_pylist()]
        return str(data_table(f"{self.name}: the first of {self.num_rows}", names, rows))
