from .recorded import MS, SECOND, START_NS


def test_a_message_has_all_its_times(results):
    message = results.row("messages", "clean", sequence=3)

    sent_ns = START_NS + 3 * MS + 20_000
    assert message["intended_ns"] == START_NS + 3 * MS
    assert (message["sent_ns"], message["acked_ns"], message["received_ns"]) == (
        sent_ns,
        sent_ns + MS,
        sent_ns + 2 * MS,
    )
    assert message["broker_ns"] == START_NS + 3 * MS
    assert message["broker_is_append"] is True
    assert (message["topic"], message["partition"], message["offset"]) == ("topic-a", 0, 3)
    assert (message["received_count"], message["corrupt_count"], message["out_of_order"]) == (1, 0, False)


def test_one_row_a_send_whatever_was_received(results, recorded):
    for case in recorded.cases.values():
        assert len(results.rows("messages", case.name)) == len(case.sends)


def test_times_are_on_the_reference_clock(results):
    message = results.row("messages", "two_hosts", sequence=1)

    sent_ns = START_NS + MS + 20_000 + 100 * MS
    assert message["sent_ns"] == sent_ns
    assert message["acked_ns"] == sent_ns + MS
    assert message["received_ns"] == sent_ns + 2 * MS
    assert message["broker_ns"] == sent_ns // MS * MS
    assert message["second"] == 0


def test_place_is_taken_from_the_receipt_when_no_ack_gave_it(results):
    assert results.row("messages", "no_offsets", sequence=3)["partition"] == 0
    assert results.row("messages", "no_offsets", sequence=3)["offset"] == 3
    assert results.row("messages", "no_offsets", sequence=2)["partition"] is None


def test_first_copy_counts(results):
    message = results.row("messages", "duplicates", sequence=1)

    assert message["received_count"] == 3
    assert message["received_ns"] == START_NS + MS + 20_000 + 2 * MS
    assert results.row("messages", "duplicates", sequence=2)["received_count"] == 2


def test_a_message_is_out_of_order_when_a_later_one_came_before_its_first_copy(results):
    late = [m["sequence"] for m in results.rows("messages", "out_of_order") if m["out_of_order"]]

    assert late == [1]


def test_damage_is_matched_by_place(results):
    counts = {m["sequence"]: m["corrupt_count"] for m in results.rows("messages", "damaged")}

    assert counts == {0: 0, 1: 1, 2: 1, 3: 1, 4: 0, 5: 0}
    assert results.row("messages", "failures", sequence=4)["corrupt_count"] == 0


def test_phase_is_by_each_producers_own_warm_up(results):
    phases = {(m["producer"], m["sequence"]): m["phase"] for m in results.rows("messages", "warm_up")}

    assert all(phase == ("warm_up" if sequence < 2 else "measure") for (_, sequence), phase in phases.items())
    assert len(phases) == 8


def test_second_is_by_intended_time(results):
    seconds = {m["sequence"]: m["second"] for m in results.rows("messages", "seconds")}

    assert seconds == {sequence: sequence // 10 for sequence in range(40)}


def test_a_broker_time_needs_a_timestamp_and_a_clock(results):
    found = {m["sequence"]: m for m in results.rows("messages", "create_time")}

    assert found[0]["broker_ns"] == START_NS
    assert found[0]["broker_is_append"] is False
    assert found[1]["broker_ns"] is found[1]["broker_is_append"] is None
    assert found[2]["broker_ns"] is None
    assert all(m["broker_ns"] is None for m in results.rows("messages", "no_marks"))
    assert all(m["received_ns"] < START_NS + SECOND for m in results.rows("messages", "no_marks"))
