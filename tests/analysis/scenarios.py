"""Hand-made cases, each with one thing to find in it; tests look them up by name."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.core.status import CaseStatus
from streamgauge.tables import events

from .planted import SEEDS, planted_case
from .recorded import MS, SECOND, START_NS, WALL_OFFSET_NS, CaseEvents


def all_cases() -> Iterator[CaseEvents]:
    for make in (
        _clean,
        _missing,
        _no_offsets,
        _no_consumers,
        _never_received,
        _duplicates,
        _out_of_order,
        _damaged,
        _failures,
        _warm_up,
        _two_hosts,
        _drifting,
        _early,
        _create_time,
        _no_marks,
        _seconds,
        _missed_rate,
        _sent_late,
        _measures_itself,
        _steps,
        _unlimited,
        _cut_short,
        _not_begun,
        _nothing_sent,
        _two_topics,
        _streams,
        _unreported,
        _unreported_and_alone,
    ):
        yield make()
    for seed in SEEDS:
        yield planted_case(seed)


def _clean() -> CaseEvents:
    """Ten messages, each received once; agents and broker use CPU that is easy to reckon with."""
    case = CaseEvents("clean", load={"messages": 10})
    for sequence in range(10):
        case.receive(case.send(sequence))
    for kind, end in (("producer", "measure_end"), ("consumer", "drained")):
        case.mark(kind, 0, "start", START_NS - SECOND)
        case.mark(kind, 0, "measure_begin", START_NS, cpu_s=1.0)
        case.mark(kind, 0, end, START_NS + 2 * SECOND, cpu_s=2.5)
    for second in range(5):
        case.sample("broker-1", START_NS + (second - 1) * SECOND, 10.0 + second)
        case.sample("machine", START_NS + (second - 1) * SECOND, 100.0 + second, net_sent_bytes=1000 * second)
    return case


def _missing() -> CaseEvents:
    """3 is overtaken by later offsets; nothing comes after 9."""
    case = CaseEvents("missing", load={"messages": 10})
    for sequence in range(10):
        send = case.send(sequence)
        if sequence not in (3, 9):
            case.receive(send)
    return case


def _no_offsets() -> CaseEvents:
    """acks=0: where a message went is known only from its receipt."""
    case = CaseEvents("no_offsets", load={"messages": 6, "acks": "0"})
    for sequence in range(6):
        send = case.send(sequence, partition=None, offset=None)
        if sequence not in (2, 5):
            case.receive(send, partition=0, offset=sequence)
    return case


def _no_consumers() -> CaseEvents:
    case = CaseEvents("no_consumers", load={"messages": 4, "consumers": 0})
    for sequence in range(4):
        case.send(sequence)
    return case


def _never_received() -> CaseEvents:
    case = CaseEvents("never_received", load={"messages": 4})
    for sequence in range(4):
        case.send(sequence)
    return case


def _duplicates() -> CaseEvents:
    """2 comes again, to the same consumer; 1 comes again, to another, in another batch."""
    case = CaseEvents("duplicates", load={"messages": 5, "topics": {"partitions": 2}, "consumers": 2})
    sends = [case.send(sequence) for sequence in range(5)]
    for send in sends:
        case.receive(send)
    case.receive(sends[2], received_ns=START_NS + 50 * MS)
    case.receive(sends[1], consumer=1, received_ns=START_NS + 60 * MS)
    case.receive(sends[1], consumer=1, received_ns=START_NS + 60 * MS)
    return case


def _out_of_order() -> CaseEvents:
    """Only 1 of producer 0 in partition 0 is late; the rest is of other partitions and producers."""
    case = CaseEvents("out_of_order", load={"messages": 8, "producers": 2, "topics": {"partitions": 2}})
    sends = {sequence: case.send(sequence) for sequence in range(4)}
    elsewhere = case.send(4, partition=1)
    by_another = case.send(0, producer=1)
    for send in (elsewhere, sends[0], sends[2], by_another, sends[1], sends[3], sends[1], sends[0]):
        case.receive(send, received_ns=START_NS + 100 * MS)
    return case


def _damaged() -> CaseEvents:
    """Damage at known places and at unknown ones, a foreign record, and one that was never sent."""
    case = CaseEvents("damaged", load={"messages": 6})
    sends = [case.send(sequence) for sequence in range(6)]
    unreadable = {"producer": -7, "sequence": 1 << 60}
    case.receive(sends[0])
    case.receive(sends[1], state=events.CORRUPT, **unreadable)
    case.receive(sends[2], state=events.UNEXPECTED, **unreadable)
    case.receive(sends[3])
    case.receive(sends[3], state=events.CORRUPT, **unreadable)
    # Nothing comes of 4 and 5; a record at offset 100 shows that the partition was read beyond them.
    case.receive(sends[0], state=events.CORRUPT, offset=99, **unreadable)
    case.receive(sends[0], state=events.UNEXPECTED, offset=100, **unreadable)
    case.receive(sends[0], sequence=77, offset=101)
    case.receive(sends[0], sequence=78, offset=102)
    return case


def _failures() -> CaseEvents:
    """1 failed, 2 was never settled, 3 failed and came all the same, a foreign record is at 4's place."""
    case = CaseEvents("failures", load={"messages": 6})
    case.receive(case.send(0))
    case.send(1, error="timed out", partition=None, offset=None)
    case.send(2, acked_ns=None, partition=None, offset=None)
    case.receive(case.send(3, error="timed out", partition=None, offset=None), partition=0, offset=7)
    case.receive(case.send(4, error="broken", offset=8), state=events.UNEXPECTED)
    case.receive(case.send(5, offset=9))
    return case


def _warm_up() -> CaseEvents:
    """Two warm-up messages for each of two producers; one is lost."""
    case = CaseEvents("warm_up", load={"messages": 4, "producers": 2, "warm_up_messages": 4})
    for producer in (0, 1):
        for sequence in range(4):
            send = case.send(sequence, producer=producer, sent_ns=START_NS + sequence * MS)
            if (producer, sequence) != (0, 0):
                case.receive(send)
    return case


def _two_hosts() -> CaseEvents:
    """The producer's clock is 100 ms behind the reference, the consumer's 7 s ahead."""
    case = CaseEvents("two_hosts", load={"messages": 2})
    case.mark("producer", 0, "start", 1, reference_offset_ns=5 * MS)
    case.mark("producer", 0, "start", 2, reference_offset_ns=100 * MS, reference_error_ns=3 * MS)
    case.mark("producer", 0, "measure_end", 9, reference_offset_ns=101 * MS, reference_error_ns=3 * MS)
    wall_ns = WALL_OFFSET_NS - 7 * SECOND
    case.mark(
        "consumer", 0, "start", 2, host="clock-1", reference_offset_ns=-7 * SECOND, wall_offset_ns=wall_ns
    )
    for sequence in range(2):
        send = case.send(sequence)
        reference_ns = send["sent_ns"] + 100 * MS
        case.receive(
            send,
            received_ns=reference_ns + 2 * MS + 7 * SECOND,
            broker_ms=(reference_ns + WALL_OFFSET_NS) // MS,
        )
    return case


def _drifting() -> CaseEvents:
    """The producer's clock is 50 ms behind and loses 10 µs a second; every message takes 2 ms."""
    case = CaseEvents("drifting", load={"messages": 5})
    behind_ns, drift = 50 * MS, 1e-5
    case.mark("producer", 0, "start", START_NS, host="far", reference_offset_ns=behind_ns)
    case.mark("consumer", 0, "start", START_NS)
    for second, beside_ns, error_ns in ((0, 0, 200_000), (50, 900_000, 300_000), (100, 0, 250_000)):
        at_ns = START_NS + second * SECOND
        offset_ns = behind_ns + round(second * SECOND * drift) + beside_ns
        case.mark(
            "producer",
            0,
            "clock",
            at_ns,
            host="far",
            reference_offset_ns=offset_ns,
            reference_error_ns=error_ns,
        )
    for sequence in range(5):
        at_ns = START_NS + 25 * sequence * SECOND
        send = case.send(sequence, intended_ns=at_ns, sent_ns=at_ns)
        reference_ns = at_ns + behind_ns + round(25 * sequence * SECOND * drift)
        case.receive(send, received_ns=reference_ns + 2 * MS)
    return case


def _early() -> CaseEvents:
    """One message seems to arrive before it was sent."""
    case = CaseEvents("early", load={"messages": 3})
    for sequence in range(3):
        send = case.send(sequence)
        case.receive(send, received_ns=send["sent_ns"] + (-5 if sequence == 1 else 2) * MS)
    return case


def _create_time() -> CaseEvents:
    case = CaseEvents("create_time", load={"messages": 3})
    case.mark("consumer", 0, "start", START_NS)
    sends = [case.send(sequence) for sequence in range(3)]
    case.receive(sends[0], broker_time=events.BROKER_TIME_CREATE)
    case.receive(sends[1], broker_time=events.BROKER_TIME_NONE, broker_ms=-1)
    case.receive(sends[2], broker_time=events.BROKER_TIME_CREATE, broker_ms=(1 << 63) - 1)
    return case


def _no_marks() -> CaseEvents:
    case = CaseEvents("no_marks", load={"messages": 2})
    for sequence in range(2):
        case.receive(case.send(sequence))
    return case


def _seconds() -> CaseEvents:
    """Ten messages a second for four seconds; latency grows by 10 ms a second."""
    case = CaseEvents("seconds", load={"messages": 40, "rate": 10})
    for sequence in range(40):
        send = case.send(sequence, intended_ns=START_NS + sequence * 100 * MS, size_bytes=50)
        late_ns = (10 + 10 * (sequence // 10)) * MS
        case.receive(send, received_ns=send["intended_ns"] + late_ns)
    return case


def _missed_rate() -> CaseEvents:
    """1000/s wanted, every message takes 2 ms."""
    case = CaseEvents("missed_rate", load={"messages": 100})
    for sequence in range(100):
        case.receive(case.send(sequence, sent_ns=START_NS + sequence * 2 * MS))
    return case


def _sent_late(name: str = "sent_late", *, measures_itself: bool = False) -> CaseEvents:
    """Each 3 ms after it was due, and received 1 µs after that: all of its latency is schedule lag."""
    case = CaseEvents(name, load={"messages": 100}, measures_itself=measures_itself)
    for sequence in range(100):
        send = case.send(sequence, sent_ns=START_NS + sequence * MS + 3 * MS)
        case.receive(send, received_ns=send["sent_ns"] + 1000)
    return case


def _measures_itself() -> CaseEvents:
    return _sent_late("measures_itself", measures_itself=True)


def _steps() -> CaseEvents:
    """100/s for a second, then 50/s; both held."""
    steps = [{"rate": 100, "for": 1}, {"rate": 50, "for": 1}]
    case = CaseEvents("steps", load={"messages": None, "rate": steps})
    for sequence in range(150):
        due_ms = sequence * 10 if sequence < 100 else 1000 + (sequence - 100) * 20
        case.receive(case.send(sequence, intended_ns=START_NS + due_ms * MS))
    return case


def _unlimited() -> CaseEvents:
    """As fast as a producer with a whole core can."""
    case = CaseEvents("unlimited", load={"messages": 10, "rate": "unlimited"})
    for sequence in range(10):
        case.receive(case.send(sequence))
    case.mark("producer", 0, "measure_begin", START_NS, cpu_s=1.0)
    case.mark("producer", 0, "measure_end", START_NS + 10 * SECOND, cpu_s=10.5)
    return case


def _cut_short() -> CaseEvents:
    case = CaseEvents("cut_short", load={"messages": 5}, status=CaseStatus("partial", "time limit reached"))
    for sequence in range(3):
        case.receive(case.send(sequence))
    return case


def _not_begun() -> CaseEvents:
    return CaseEvents("not_begun", status=None)


def _nothing_sent() -> CaseEvents:
    return CaseEvents("nothing_sent", load={"messages": 7}, status=CaseStatus("running"))


def _two_topics() -> CaseEvents:
    """Two topics with two partitions each; message 5 of topic 1 is lost."""
    case = CaseEvents("two_topics", load={"messages": 16, "topics": {"count": 2, "partitions": 2}})
    for sequence in range(16):
        send = case.send(sequence, topic=sequence % 2, partition=sequence // 2 % 2)
        if sequence != 5:
            case.receive(send)
    return case


def _streams() -> CaseEvents:
    """Two topics of two partitions, each with a stream of four messages of 1 KiB.

    Stream n is sent from n ms on, at 1 ms intervals, and each message takes 10·(n + 1) ms.
    """
    load = {"streams": "per_partition", "messages": 16, "rate": "unlimited", "message": {"size": 1024}}
    case = CaseEvents("streams", load={**load, "topics": {"count": 2, "partitions": 2}})
    for number in range(4):
        for sequence in range(4):
            at_ns = START_NS + (number + sequence) * MS
            place = {"topic": number // 2, "partition": number % 2, "producer": number}
            times = {"intended_ns": at_ns, "sent_ns": at_ns, "size_bytes": 1024}
            send = case.send(sequence, **place, **times)
            case.receive(send, consumer=number, received_ns=at_ns + 10 * (number + 1) * MS)
    return case


def _unreported() -> CaseEvents:
    """Without delivery reports: of five messages one never came, and nobody was told of any."""
    load = {"streams": "per_partition", "messages": 5, "completions": False}
    case = CaseEvents("unreported", load=load)
    for sequence in range(5):
        send = case.send(sequence, offset=None, acked_ns=None)
        if sequence != 2:
            case.receive(send, offset=sequence)
    return case


def _unreported_and_alone() -> CaseEvents:
    case = CaseEvents("unreported_and_alone", load={"messages": 3, "completions": False, "consumers": 0})
    for sequence in range(3):
        case.send(sequence, partition=None, offset=None, acked_ns=None)
    return case
