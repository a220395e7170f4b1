"""Table `causes`: reasons for verdicts as rows, a row for each figure of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamgauge.core.verdicts import Cause


def cause_rows(
    case: str, verdict: str, causes: Iterable[Cause], subject: str = ""
) -> Iterator[dict[str, Any]]:
    for place, found in enumerate(causes):
        about = {
            "case": case,
            "subject": subject,
            "verdict": verdict,
            "place": place,
            "code": found.code.value,
            "about": found.about,
            "text": found.text,
        }
        for figure, value in found.figures.items() or (("", None),):
            yield about | {"figure": figure or None, "value": None if value is None else float(value)}
