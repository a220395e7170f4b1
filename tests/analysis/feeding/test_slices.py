import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.slices import USUAL, RowGroup, plan_slices, row_groups

BLOCK = USUAL.block
ROWS = 32 * BLOCK


def groups(table, ranges, case="001", producers=(0, 0)):
    return [
        RowGroup(table, case, f"{table}-{number}", number, high - low + 1, producers, (low, high))
        for number, (low, high) in enumerate(ranges)
    ]


def in_order(rows, step=BLOCK, late=0):
    return [(max(0, low - late), low + step - 1 - late) for low in range(0, rows, step)]


def planned(row_groups):
    slices = plan_slices(row_groups)
    assert slices is not None
    return slices


def test_a_short_case_is_one_slice():
    [one] = planned(groups("sends", [(0, 999)]) + groups("receives", [(0, 500), (400, 5000)]))

    assert (len(one.sends), len(one.receives)) == (1, 2)
    assert one.low < 0
    assert one.high > 5000, "records beyond the last send belong somewhere"


def test_slices_hold_every_message_once_and_all_its_records():
    sends, receives = groups("sends", in_order(ROWS)), groups("receives", in_order(ROWS, late=1000))
    slices = planned(sends + receives)

    assert len(slices) > 1
    assert [one.low for one in slices[1:]] == [one.high for one in slices[:-1]]
    assert all(one.low % BLOCK == 0 for one in slices[1:])
    for one in slices:
        for group in (*sends, *receives):
            is_met = group.sequences[0] < one.high and group.sequences[1] >= one.low
            assert is_met == (group in one.sends + one.receives)


def test_more_producers_make_shorter_slices():
    one = planned(groups("sends", in_order(ROWS)))
    four = planned(
        [g for number in range(4) for g in groups("sends", in_order(ROWS), producers=(number, number))]
    )

    assert four[0].high * 4 == one[0].high
    assert four[0].rows == one[0].rows


def test_cases_are_apart():
    slices = planned(groups("sends", [(0, 9)]) + groups("sends", [(0, 9)], case="002"))

    assert [one.case for one in slices] == ["001", "002"]


def test_a_consumer_that_read_in_another_order_has_no_plan():
    """Every row group has a bit of everything: each slice would read all."""
    assert plan_slices(groups("sends", in_order(ROWS)) + groups("receives", [(0, ROWS)] * 16)) is None


def test_without_statistics_there_is_no_plan():
    [known] = groups("sends", [(0, 9)])
    unknown = RowGroup("receives", "001", "f", 0, 10, None, None)

    assert plan_slices([known, unknown]) is None
    assert plan_slices([known]) is not None


def test_other_tables_do_not_matter():
    assert plan_slices([RowGroup("marks", "001", "f", 0, 10, None, None)]) == []


def test_ranges_are_those_of_the_file(tmp_path):
    table = pa.table({"producer": [1, 2, 1, 2], "sequence": [5, 6, 7, 8]})
    pq.write_table(table, tmp_path / "f", row_group_size=2)
    found = list(row_groups("sends", "001", "f", pq.read_metadata(tmp_path / "f")))

    assert [(group.number, group.rows, group.producers, group.sequences) for group in found] == [
        (0, 2, (1, 2), (5, 6)),
        (1, 2, (1, 2), (7, 8)),
    ]


def test_records_of_which_no_send_is_known_are_in_a_slice_too():
    [one] = planned(groups("receives", [(0, 500)]))

    assert (one.sends, len(one.receives)) == ((), 1)


def test_a_row_group_without_any_offset_is_told_from_one_of_which_nothing_is_known(tmp_path):
    rows = pa.table({"offset": pa.array([None, None, 5, None], pa.int64())})

    def read(**how):
        pq.write_table(rows, tmp_path / "f.parquet", row_group_size=2, **how)
        metadata = pq.ParquetFile(tmp_path / "f.parquet").metadata
        return [(group.offsets, group.is_unplaced) for group in row_groups("sends", "001", "f", metadata)]

    assert read() == [(None, True), ((5, 5), False)]
    assert read(write_statistics=False) == [(None, False), (None, False)]
