import pyarrow as pa

from streamgauge.analysis.feeding.reading import rows_by_case


def found_in(cases):
    rows = pa.table({"case": pa.array(cases, pa.string()), "n": range(len(cases))})
    return [(case, part["n"].to_pylist()) for case, part in rows_by_case(rows)]


def test_rows_are_told_apart_by_their_case_and_stay_in_their_order():
    assert found_in(["b", "b", "a"]) == [("b", [0, 1]), ("a", [2])]
    assert found_in(["a", "b", "a", "c", "b"]) == [("a", [0, 2]), ("b", [1, 4]), ("c", [3])]
    assert found_in(["a"]) == [("a", [0])]
    assert found_in([]) == []
