import pyarrow as pa

from streamgauge.analysis.joining.buckets import buckets_of
from streamgauge.analysis.joining.cells import cells_of
from streamgauge.analysis.joining.facts import CaseFacts, Clock
from streamgauge.analysis.joining.messages import join_messages
from streamgauge.tables.events import RECEIVES, SENDS
from tests.analysis.recorded import CaseEvents


def joined(case, later_arrivals=None, **facts):
    sends = pa.Table.from_pylist(case.sends, schema=SENDS.arrow_schema())
    receives = pa.Table.from_pylist(case.receives, schema=RECEIVES.arrow_schema())
    return join_messages(CaseFacts("001", topics=("a",), **facts), sends, receives, later_arrivals or {})


def test_a_part_may_be_empty():
    """Sequences have gaps when an agent was killed."""
    found = joined(CaseEvents(""))

    assert found.table().num_rows == buckets_of(found).num_rows == cells_of(found).num_rows == 0


def test_a_message_beyond_the_part_that_came_before_overtakes():
    case = CaseEvents("")
    for sequence in range(3):
        case.receive(case.send(sequence))
    found = joined(case, later_arrivals={(0, 0, 0, 0): 1})

    assert found.out_of_order.tolist() == [False, False, True]


def test_a_clock_that_drifts_is_followed():
    case = CaseEvents("")
    sent = case.send(0, intended_ns=1_000_000, sent_ns=2_000_000)
    case.receive(sent)
    found = joined(case, producer_clocks={0: Clock(offset_ns=100, anchor_ns=1_000_000, drift=1e-3)})

    assert found.intended_ns.tolist() == [1_000_100]
    assert found.sent_ns.tolist() == [2_000_100 + 1_000]


def test_without_a_reading_of_its_clock_a_consumer_has_no_broker_times():
    case = CaseEvents("")
    case.receive(case.send(0))

    assert not joined(case).broker_ns.valid.any()
    assert joined(case, consumer_clocks={0: Clock(wall_offset_ns=0)}).broker_ns.valid.all()
