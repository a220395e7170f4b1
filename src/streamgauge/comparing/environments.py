"""What of two environments is not the same, but for what is another in every run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streamgauge.comparing.document import Changed
from streamgauge.comparing.matching import differing
from streamgauge.report.settings_text import by_path

_EACH_RUNS_OWN = ("live_view", "memory_peaks_bytes", "resumed", "master", "user")
"""Beginnings of paths. The master says how many agents there were, which is a setting."""
_OWN_NAMES = {"pid", "cluster_id", "took_s", "primed"}
_OWN_VALUES = (
    (re.compile(r"\b(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+"), r"\1:…"),
    # Folders that are made for a while.
    (re.compile(r"(/[\w.-]+)*/[\w.-]*streamgauge-[\w.-]+(/[\w.-]+)*"), "…"),
    (re.compile(r"\d{8}-\d{6}-[\w.-]+-[0-9a-f]{4}"), "…"),
)


def environment_differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[Changed]:
    """Ports and folders that are taken for a while, ids and names of runs do not count."""
    return differing(_lasting(base), _lasting(new))


def _lasting(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {
        path: _plain(value)
        for path, value in by_path(environment, ".").items()
        if not path.startswith(_EACH_RUNS_OWN) and not _OWN_NAMES & set(path.split("."))
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        for pattern, instead in _OWN_VALUES:
            value = pattern.sub(instead, value)
    return value
