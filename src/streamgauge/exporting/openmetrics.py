"""A results document as OpenMetrics text: every number of every part, a gauge each.

A gauge is named by the number's path in the document, so its unit is the document's (`_ms`, `_per_s`), and
docs/results.md explains it. Verdicts are 0 or 1 for each value that they may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.report.document import Document

_LISTS = ("topics", "partitions", "seconds", "clocks", "warm_up_course", "intervals")
_TELLING = ("case", "target", "driver", "tool", "transport", "via", "scenario", "series", "operation")
"""Fields that say which part a number is of."""
_VERDICTS = {"integrity": Integrity, "validity": Validity}

Sample = tuple[str, dict[str, str], float]


def openmetrics_text(document: Document) -> str:
    """Ends with `# EOF`, as the format asks for: what is cut off is seen."""
    by_name: dict[str, list[str]] = {}
    for name, labels, value in _samples(document):
        written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        by_name.setdefault(name, []).append(f"{name}{{{written}}} {value!r}")
    lines = []
    for name, samples in by_name.items():
        lines += [f"# TYPE {name} gauge", *dict.fromkeys(samples)]
    return "\n".join([*lines, "# EOF", ""])


def _samples(document: Document) -> Iterator[Sample]:
    run = {"run": document.run, "workload": document.name, "kind": document.kind}
    yield "streamgauge_run_ok", run, float(document.status.value == "ok")
    yield from _verdicts("streamgauge_run", document.model_dump(mode="json"), run)
    content: Any = document.model_dump(mode="json")
    for field in document.row_field.split("."):
        content = content[field]
    for place, row in enumerate(content):
        labels = {**run, **{name: str(row[name]) for name in _TELLING if row.get(name) is not None}}
        labels = labels if len(labels) > len(run) else {**labels, "place": str(place)}
        yield from _verdicts("streamgauge", row, labels)
        for path, value in _numbers(row):
            yield _name(f"streamgauge_{path}"), labels, value


def _verdicts(prefix: str, row: dict[str, Any], labels: dict[str, str]) -> Iterator[Sample]:
    for name, values in _VERDICTS.items():
        found = row.get(name)
        word = found.get("verdict") if isinstance(found, dict) else found
        if isinstance(word, str):
            for value in values:
                yield f"{prefix}_{name}", {**labels, "verdict": value.value}, float(word == value.value)


def _numbers(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, item in value.items():
        path = f"{prefix}{key}"
        if key in _LISTS:
            continue
        if isinstance(item, dict):
            yield from _numbers(item, f"{path}_")
        elif isinstance(item, list):
            for place, each in enumerate(item):
                if isinstance(each, dict) and "leg" in each:
                    yield from _numbers(each, f"{path}_{place}_")
        elif isinstance(item, (int, float)):
            yield path, float(item)


def _name(path: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "_", path)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
