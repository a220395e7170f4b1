"""Fields of the results document that have another name, another place or other words than in 0.1.

`expected.json` of the stored runs is what the code of its time said, and stays as it is. What has changed on
purpose since then is listed here, and in the CHANGELOG; all else must be the same. Fields that are new need
no entry: the stored documents do not have them.
"""

from __future__ import annotations

from typing import Any

RENAMED: dict[str, str] = {
    f"cases.*.range_s.{before}": f"cases.*.range_s.{now}"
    for before, now in (("published", "acked"), ("output", "broker"), ("consumed", "received"))
}
for _part in ("cases.*", "cases.*.topics.*", "cases.*.partitions.*", "cases.*.seconds.*"):
    for _before, _now in (
        ("sent_to_output", "sent_to_broker"),
        ("output_to_received", "broker_to_received"),
    ):
        RENAMED[f"{_part}.latency_ms.{_before}"] = f"{_part}.latency_ms.{_now}"
"""Place before → place now. A place is keys with dots, `*` for every key or number: `cases.*.status`."""

REWORDED: dict[str, dict[Any, Any]] = {}
"""Place before → value before → value now, where a word has been replaced by another."""

_WORDS = "words are made by the report; the document has causes with their figures"
_COUNTING = "of the time that counts; the warm-up was in it before"
_ABSENT = "a document has only the parts of its family"
LEFT_OUT: dict[str, str] = {
    "reason": "of marked cases: `marked` has their ids",
    **dict.fromkeys(("transports", "comparison", "limit", "comparisons", "cases"), _ABSENT),
    **dict.fromkeys(
        (
            "cases.*.reasons",
            "cases.*.reasons.*",
            "cases.*.bottleneck.reason",
            "limit.bottleneck.reason",
            "limit.ending_reason",
            "transports.rows.*.reasons",
            "transports.rows.*.reasons.*",
            "comparison.notes",
            "comparison.notes.*",
            "comparisons.*.reasons",
            "comparisons.*.reasons.*",
            "comparisons.*.warnings",
            "comparisons.*.warnings.*",
            "fanout.points.*.reasons",
            "fanout.points.*.reasons.*",
        ),
        _WORDS,
    ),
    **dict.fromkeys(
        (
            "fanout.points.*.use.*.cpu_cores",
            "fanout.points.*.wire.broker_sent_bits_per_s",
            "fanout.points.*.wire.broker_received_bits_per_s",
        ),
        _COUNTING,
    ),
    "transports.transports.*.promises": "null, not empty, when they are not known",
}
"""Place before → why it cannot be compared any more."""


def without_claimed_acks(document: dict[str, Any]) -> dict[str, Any]:
    """A case with acks=0 no longer claims acknowledgements: no count, leg, range or rate of them."""
    for case in document.get("cases") or ():
        if case.get("parameters", {}).get("acks") != "0":
            continue
        for part in (case, *case["topics"], *case["partitions"], *case["seconds"]):
            leg = part["latency_ms"]["sent_to_acked"]
            leg.update({name: 0 if name.endswith("count") else None for name in leg})
            part["throughput"].update(acked_messages_per_s=None, acked_bytes_per_s=None)
            for counts in filter(None, (part["accounting"], part["warm_up"])):
                counts["acked"] = 0
        case["range_s"]["published"] = None
    return document


def without_rates_since_the_first_ack(document: dict[str, Any]) -> dict[str, Any]:
    """Of a load without pace: what is done is counted since the first message was sent, or the warm-up's last
    was done, no longer since the first ack or record. Rates of its seconds are the same."""
    for case in document.get("cases") or ():
        if case.get("parameters", {}).get("rate") != "unlimited":
            continue
        for part in (case, *case["topics"], *case["partitions"]):
            for name in ("acked_messages", "acked_bytes", "received_messages", "received_bytes"):
                part["throughput"].pop(f"{name}_per_s")
    return document
