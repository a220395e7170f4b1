import pyarrow as pa

from streamgauge.analysis.feeding.later_arrivals import later_arrivals

BLOCK = 10
STREAM = (7, 0, 1, 2)


def reach_of(*rows):
    return pa.Table.from_pylist(rows)


def row(block, first, last, producer=0):
    place = {"consumer": 7, "topic": 1, "partition": 2}
    return {**place, "producer": producer, "block": block, "first_arrival": first, "last_arrival": last}


def test_a_piece_knows_when_its_streams_first_had_something_later():
    reach = reach_of(row(0, 5, 60), row(1, 50, 70), row(2, 40, 80), row(None, 0, 0, producer=None))

    assert later_arrivals(reach, [(0, 10), (10, 20), (20, 1 << 62)], BLOCK) == [
        {STREAM: 40},
        {STREAM: 40},
        {},
    ]


def test_streams_in_order_need_not_be_known():
    reach = reach_of(*(row(block, 100 * block, 100 * block + 99) for block in range(1000)))
    pieces = [(10 * number, 10 * number + 10) for number in range(1000)]

    assert not any(later_arrivals(reach, pieces, BLOCK))


def test_a_piece_that_came_before_the_disorder_has_nothing_to_know():
    reach = reach_of(row(2, 30, 40), row(0, 0, 9), row(1, 10, 35), row(0, 50, 60, producer=1))

    assert later_arrivals(reach, [(0, 10), (10, 20), (20, 30)], BLOCK) == [{}, {STREAM: 30}, {}]


def test_of_many_streams_only_those_that_were_overtaken_are_told_of():
    reach = reach_of(
        *(row(block, 10 * block, 10 * block + 5, producer) for producer in range(50) for block in (1, 0))
    )
    late = reach_of(row(0, 90, 95, producer=60), row(1, 80, 85, producer=60))

    assert later_arrivals(pa.concat_tables([reach, late]), [(0, 10), (10, 20)], BLOCK) == [
        {(7, 60, 1, 2): 80},
        {},
    ]


def test_nothing_was_read():
    assert later_arrivals(reach_of(row(None, 0, 0, producer=None)).slice(0, 0), [(0, 10)], BLOCK) == [{}]
