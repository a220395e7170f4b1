from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.imported.command import FormatName, ValueUnit
from streamgauge.importing import formats
from streamgauge.importing.formats import FORMATS, read_tool_file
from streamgauge.importing.hdr_histograms import UNITS
from streamgauge.report.hdr_files import hgrm_text, hlog_text
from tests.importing import samples

ROWS = [{"value_ms": 0.5, "count": 90}, {"value_ms": 2.0, "count": 10}]
SAMPLES = {
    "omb": samples.OMB,
    "kafka-producer-perf": samples.PRODUCER_PERF,
    "kafka-consumer-perf": samples.CONSUMER_PERF,
    "kafka-e2e-latency": samples.END_TO_END,
    "hlog": hlog_text(ROWS, 10.0),
    "hgrm": hgrm_text(ROWS),
    "k6": samples.K6,
    "locust": samples.LOCUST,
    "locust-history": samples.LOCUST_HISTORY,
    "kafka-perf": samples.KAFKA_PERF,
    "knet": samples.KNET,
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_text(SAMPLES[name])
    found = read_tool_file(file)
    assert found.format == name
    assert found.cases
    assert read_tool_file(file, name).cases == found.cases


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_one_format_is_refused_as_any_other_in_a_line(name: str, tmp_path: Path) -> None:
    file = tmp_path / "results"
    for other, text in SAMPLES.items():
        if other != name:
            file.write_text(text)
            with pytest.raises(BadInput) as error:
                read_tool_file(file, name)
            assert str(error.value).startswith(f"{file}: ")
            assert "\n" not in str(error.value)


def test_the_command_offers_every_format_and_unit() -> None:
    assert [each.value for each in FormatName] == list(FORMATS)
    assert tuple(each.value for each in ValueUnit) == UNITS


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "results.csv.gz"
    file.write_bytes(gzip.compress(samples.K6.encode()))
    assert read_tool_file(file).format == "k6"
    file.write_bytes(gzip.compress(samples.K6.encode())[:-9])
    with pytest.raises(BadInput, match="cannot be read"):
        read_tool_file(file)


def test_what_is_too_large_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MOST_BYTES", 1000)
    file = tmp_path / "bomb"
    file.write_bytes(gzip.compress(b"a" * 100_000))
    with pytest.raises(BadInput, match="refused"):
        read_tool_file(file)


def test_what_nobody_knows_is_said_with_what_there_is(tmp_path: Path) -> None:
    file = tmp_path / "results"
    for content, said in (
        (b"hello", "of no format that is known"),
        (b" ", "is empty"),
        (b"\xff", "not UTF-8"),
    ):
        file.write_bytes(content)
        with pytest.raises(BadInput, match=said) as error:
            read_tool_file(file)
        assert "kafka-producer-perf" in str(error.value)
    with pytest.raises(BadInput, match="cannot be read"):
        read_tool_file(tmp_path / "missing")


def test_a_unit_is_only_for_files_that_do_not_say_theirs(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_text(samples.K6)
    with pytest.raises(BadInput, match="--unit us"):
        read_tool_file(file, unit="us")
