import pyarrow as pa
import pytest

from streamgauge.analysis.query import query, quoted, table_query
from streamgauge.analysis.storage import local_frame
from streamgauge.tables.column import Column, Table

pytestmark = pytest.mark.spark

WORDS = ["it's", 'a "word"', "back\\slash", "two\nlines", "100%", "{braces}"]


def test_words_come_back_as_they_are(session):
    one = session.createDataFrame(pa.table({"x": [1]}))

    assert list(one.selectExpr(*map(quoted, WORDS)).collect()[0]) == WORDS


def test_a_table_has_its_columns_in_order_and_with_their_types(session):
    table = Table("t", "a row", (Column("b", "float64", ""), Column("case", "string", "")))
    rows = session.createDataFrame(pa.table({"case": [7], "b": [1]}))

    found = table_query(table, "select *, 3 as more from {rows}", rows=rows)
    assert found.dtypes == [("b", "double"), ("case", "string")]
    assert [tuple(row) for row in found.collect()] == [(1.0, "7")]


def test_frames_are_known_by_their_names(session):
    left, right = (session.createDataFrame(pa.table({"x": values})) for values in ([1, 2], [2, 3]))

    assert query("select * from {a} join {b} using (x)", a=left, b=right).collect()[0]["x"] == 2


def test_rows_after_an_empty_piece_are_kept(session):
    some = pa.table({"x": [1, 2]})

    assert local_frame(session, pa.concat_tables([some, some.slice(0, 0), some])).count() == 4
