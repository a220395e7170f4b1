"""A document as the renderers that are still to be replaced read it: with words in it."""

from __future__ import annotations

from typing import Any

from streamgauge.core.verdicts import Cause
from streamgauge.report import document as typed
from streamgauge.report.case_document import Accounting, Statistics
from streamgauge.report.cause_words import cause_text

Document = dict[str, Any]
COUNTS = tuple(Accounting.model_fields)
STATISTICS = tuple(Statistics.model_fields)
RANGE_NAMES = ("sent", "published", "output", "consumed")
NOT_RUN = "not run"

_LEGS = {"sent_to_broker": "sent_to_output", "broker_to_received": "output_to_received"}
_RANGES = {"acked": "published", "broker": "output", "received": "consumed"}
_ENDINGS = {
    "found": "the rate that holds and the one that does not are as near as was asked for",
    "all held": "every rate up to the highest allowed one holds",
    "none held": "no rate down to the lowest that is tried holds",
    "time": "the time was up",
    None: "the search has not come to its end",
}


def old_shape(document: typed.Document) -> Document:
    found = document.model_dump(mode="json")
    if found["marked"]:
        count = len(found.get("cases") or found.get("comparisons", []))
        found["reason"] = f"{len(found['marked'])} of {count} {found['status']}: {', '.join(found['marked'])}"
    for case in found.setdefault("cases", []):
        _judged(case)
        case["bottleneck"] = _bottleneck(case["bottleneck"])
        case["range_s"] = {_RANGES.get(name, name): value for name, value in case["range_s"].items()}
        for part in (case, *case["topics"], *case["partitions"], *case["seconds"]):
            part["latency_ms"] = {_LEGS.get(leg, leg): value for leg, value in part["latency_ms"].items()}
    if found.setdefault("transports", None) is not None:
        by_case = {case["case"]: case for case in found["cases"]}
        for row in found["transports"]["rows"]:
            row["reasons"] = by_case[row["case"]]["reasons"]
        for about in found["transports"]["transports"]:
            about["promises"] = about["promises"] or {}
    if found.setdefault("limit", None) is not None:
        limit = found["limit"]
        limit["bottleneck"] = _bottleneck(limit["bottleneck"])
        limit["ending_reason"] = _ENDINGS[limit["ending"]]
    if found.setdefault("comparison", None) is not None:
        found["comparison"]["notes"] = _words(found["comparison"]["notes"])
        for row in found["comparisons"]:
            row["reasons"] = _words(row["integrity"]["causes"])
            row["warnings"] = _words([*row["validity"]["causes"], *row["warnings"]])
    found.setdefault("comparisons", [])
    for point in found.get("fanout", {}).get("points", []):
        _judged(point)
    return found


def _judged(part: dict[str, Any]) -> None:
    part["reasons"] = _words([*part["integrity"]["causes"], *part["validity"]["causes"], *part["notes"]])


def _bottleneck(part: dict[str, Any]) -> dict[str, Any]:
    said = part.pop("cause")
    return part | {"reason": said and cause_text(Cause.model_validate(said))}


def _words(causes: list[dict[str, Any]]) -> list[str]:
    return [cause_text(Cause.model_validate(cause)) for cause in causes]
