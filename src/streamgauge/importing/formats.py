"""Which format a file is of: by its content, or as the user says."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.units import format_bytes
from streamgauge.importing import csv_results, hdr_histograms, kafka_tools, knet_csv, omb_result
from streamgauge.importing.figures import NotThisFormat, ToolCase

MOST_BYTES = 512 * 1024**2
"""Of a file, unpacked. What is larger would not fit into memory on its way."""
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Format:
    name: str
    marks: tuple[str, ...]
    """Any of them stands in every file of this format."""
    read: Callable[..., list[ToolCase]]
    has_unit: bool = False
    """Its files do not say in which unit their values are."""


FORMATS = {
    each.name: each
    for each in (
        Format("omb", (omb_result.MARK,), omb_result.read_omb_result),
        Format("kafka-producer-perf", (kafka_tools.PRODUCER_MARK,), kafka_tools.read_producer_perf),
        Format("kafka-consumer-perf", (kafka_tools.CONSUMER_MARK,), kafka_tools.read_consumer_perf),
        Format("kafka-e2e-latency", (kafka_tools.E2E_MARK,), kafka_tools.read_end_to_end),
        Format("hlog", (hdr_histograms.LOG_MARK,), hdr_histograms.read_histogram_log, has_unit=True),
        Format("hgrm", (hdr_histograms.TABLE_MARK,), hdr_histograms.read_percentile_table, has_unit=True),
        Format("k6", (csv_results.K6_MARK,), csv_results.read_k6),
        Format("locust", (csv_results.LOCUST_MARK,), csv_results.read_locust),
        Format("locust-history", (csv_results.LOCUST_HISTORY_MARK,), csv_results.read_locust_history),
        Format("kafka-perf", (csv_results.KAFKA_PERF_MARK,), csv_results.read_kafka_perf),
        Format("knet", (knet_csv.MARK,), knet_csv.read_knet),
    )
}


@dataclass(frozen=True)
class ToolFile:
    """A file of another tool, read."""

    name: str
    """Without its folder."""
    format: str
    content: bytes
    cases: Sequence[ToolCase]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_tool_file(path: Path, format_name: str | None = None, unit: str | None = None) -> ToolFile:
    """One line says what is wrong with a file that cannot be read, and which formats there are."""
    content = _content(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text; allowed: {', '.join(FORMATS)}") from None
    found = FORMATS[format_name] if format_name else detected_format(path, text)
    if unit is not None and not found.has_unit:
        raise BadInput(f"--unit {unit}: files of format {found.name} say themselves what their values are in")
    try:
        cases = found.read(text, unit) if found.has_unit else found.read(text)
    except NotThisFormat as error:
        raise BadInput(f"{path}: {error}") from None
    except KeyError as error:
        raise BadInput(f"{path}: {found.name}: there is no column or field {error}") from None
    return ToolFile(path.name, found.name, content, cases)


def detected_format(path: Path, text: str) -> Format:
    """By what stands in the file, whatever it is called."""
    for each in FORMATS.values():
        if any(mark in text for mark in each.marks):
            return each
    what = "is empty" if not text.strip() else "is of no format that is known"
    raise BadInput(f"{path}: {what}; say which with --format: {', '.join(FORMATS)}")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if content.startswith(_GZIP):
            with gzip.open(path) as packed:
                content = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if len(content) > MOST_BYTES:
        raise BadInput(f"{path}: holds more than {format_bytes(MOST_BYTES)}: refused")
    return content
