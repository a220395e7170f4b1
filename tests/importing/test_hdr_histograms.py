from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from streamgauge.importing import hdr_histograms
from streamgauge.importing.figures import NotThisFormat
from streamgauge.importing.hdr_histograms import (
    decoded_histogram,
    read_histogram_log,
    read_percentile_table,
)
from streamgauge.report.hdr_files import hgrm_text, hlog_text

ROWS = [{"value_ms": value, "count": count} for value, count in ((0.5, 90), (2.0, 9), (40.0, 1))]


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_what_the_usual_library_wrote_is_read_value_by_value(digits: int) -> None:
    theirs = HdrHistogram(1, 3_600_000_000_000, digits)
    for value in (1, 7, 1000, 123_456_789, 987_654_321_012):
        theirs.record_value(value, 3)
    found = decoded_histogram(theirs.encode().decode())
    assert list(found.values()) == [3] * 5
    for value, read in zip((1, 7, 1000, 123_456_789, 987_654_321_012), found, strict=True):
        assert read == pytest.approx(value, rel=10.0**-digits)


def test_a_log_of_ours_comes_back_the_same() -> None:
    [case] = read_histogram_log(hlog_text(ROWS, 10.0))
    [latency] = case.latencies
    assert (latency.count, case.rate_per_s) == (100, 10.0)
    assert latency.percentiles["p50"] == pytest.approx(0.5, rel=1e-3)
    assert latency.max == pytest.approx(40.0, rel=1e-3)
    assert any("taken as nanoseconds" in note for note in case.notes)


def test_intervals_are_added_up_by_tag() -> None:
    line = hlog_text(ROWS, 10.0).splitlines()[-1]
    log = "\n".join([*hlog_text(ROWS, 10.0).splitlines()[:-1], line, f"Tag=A,{line}", line])
    plain, tagged = read_histogram_log(log, "ns")
    assert (plain.message_count, tagged.message_count) == (200, 100)
    assert tagged.settings == {"tag": "A"}
    assert len(plain.intervals) == 2


def test_units_are_as_said() -> None:
    [case] = read_histogram_log(hlog_text(ROWS, 10.0), "us")
    assert case.latencies[0].max == pytest.approx(40_000, rel=1e-3)


def test_a_percentile_table_of_ours_comes_back_the_same() -> None:
    [case] = read_percentile_table(hgrm_text(ROWS))
    [latency] = case.latencies
    assert (latency.count, latency.max) == (100, pytest.approx(40.0))
    assert latency.percentiles["p50"] == 0.5
    assert latency.percentiles["p95"] == 2.0
    assert "p99.99" not in latency.percentiles


def test_a_table_that_was_cut_off_says_so() -> None:
    with pytest.raises(NotThisFormat, match="cut off"):
        read_percentile_table("\n".join(hgrm_text(ROWS).splitlines()[:8]))


def packed(head: tuple[Any, ...], payload: bytes) -> str:
    plain = zlib.compress(struct.pack(">iiiiqqd", *head) + payload)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(plain)) + plain).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("!!", "no base64"),
        (base64.b64encode(b"abc").decode(), "no base64"),
        (base64.b64encode(struct.pack(">ii", 1, 0)).decode(), "second format"),
        (base64.b64encode(struct.pack(">ii", 0x1C849314, 4) + b"abcd").decode(), "cannot be unpacked"),
        (packed((0x1C849313, 99, 0, 3, 1, 2, 1.0), b""), "its head"),
        (packed((0x1C849313, 1, 0, 3, 1, 2, 1.0), b"\x80"), "ends within a count"),
        # A run of zeros that says it is longer than any histogram.
        (packed((0x1C849313, 9, 0, 3, 1, 2, 1.0), b"\xff" * 8 + b"\x7f"), "more buckets"),
    ],
)
def test_what_is_no_histogram_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotThisFormat, match=said):
        decoded_histogram(text)


def test_a_histogram_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdr_histograms, "_MOST_BYTES", 10_000)
    with pytest.raises(NotThisFormat, match="unpacks to more than"):
        decoded_histogram(packed((0x1C849313, 100_000, 0, 3, 1, 2, 1.0), bytes(100_000)))


def test_a_line_that_was_cut_off_says_which() -> None:
    with pytest.raises(NotThisFormat, match="line 4"):
        read_histogram_log("\n".join([*hlog_text(ROWS, 1.0).splitlines()[:3], "0.0,1.0"]))
