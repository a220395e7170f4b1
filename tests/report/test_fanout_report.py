"""Tables, plots and page of a fan-out from planted points."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from streamgauge.report.fanout_console import print_blocks, print_fanout
from streamgauge.report.fanout_document import COUNTS, LATENCIES, WIRE, savings
from streamgauge.report.fanout_figures import fanout_figures
from streamgauge.report.fanout_markdown import fanout_markdown
from streamgauge.report.fanout_page import render_fanout
from streamgauge.report.fanout_pictures import fanout_pictures
from streamgauge.report.fanout_tables import bits_text, clients_text, fanout_tables
from streamgauge.report.published_fanout import HARDWARE, SLIPS, published
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.fanout_results import LATENCY_COUNTS, ROLES

ROLE_USE = {"cpu_cores": 0.5, "memory_bytes": 1024.0**3}


def point(series: str, scenario: str, clients: int, mean: float | None, **more: Any) -> dict[str, Any]:
    via = series.partition(" ")[0]
    beside = published(scenario, via, clients)
    told = beside.mean_sd_ms
    held = mean is not None
    return {
        "case": f"{series}-{clients}",
        "series": series,
        "via": via,
        "scenario": scenario,
        "clients": clients,
        "status": "ok",
        "holds": held,
        "reasons": [] if held else ["does not hold: 7 updates are missing"],
        "rate_per_s": 4.0,
        "measured_clients": 10,
        "accounting": dict.fromkeys(COUNTS, 100),
        "samples": 40 if held else 0,
        "latency_ms": dict.fromkeys(LATENCIES, mean),
        "wire": dict.fromkeys(WIRE, None) | {"bytes_per_client": 1000.0, "to_clients_bits_per_s": 14.5e6},
        "use": {role: dict(ROLE_USE) for role in ROLES},
        "published": {
            "mean_ms": told[0] if isinstance(told, tuple) else None,
            "sd_ms": told[1] if isinstance(told, tuple) else None,
            "holds": None if told is None else isinstance(told, tuple),
            "bits_per_s": beside.bits_per_s,
        },
        **more,
    }


def document(points: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "run": "20260101-000000-fanout-0000",
        "name": "fanout",
        "status": "ok",
        "reason": None,
        "environment": {},
        "fanout": {
            "duration_s": 60.0,
            "warm_up_s": 2.0,
            "mean_limit_s": 5.0,
            "scenarios": {p["scenario"]: "words" for p in points},
            "points": points,
            "savings": savings(points),
            "published": {"hardware": HARDWARE, "slips": list(SLIPS)},
        },
    }


LADDER = [
    point("gateway", "1", 1000, 3.21),
    point("gateway", "1", 16000, 123.4),
    point("kafka-groups", "1", 1000, 7.0),
    point("kafka-groups", "1", 16000, None),
    point("kafka-groups", "1", 18000, None, status="not run", reasons=["not run: it did not hold at 16,000"]),
]
TABLES = ResultTables(
    {
        LATENCY_COUNTS.name: pa.Table.from_pylist(
            [{"case": "gateway-16000", "latency_ms": ms, "count": 10} for ms in (1, 2, 3, 9)],
            schema=LATENCY_COUNTS.arrow_schema(),
        )
    }
)


def test_a_row_a_series_a_column_a_number_of_clients_and_what_was_published_beneath() -> None:
    table = fanout_tables(document(LADDER)["fanout"])[0]
    assert table.header == ["clients", "1K", "16K", "18K"]
    assert table.rows == [
        ["gateway", "3.2 (3.2)", "123 (123)", "–"],
        ["published", "10 (17)", "91 (37)", "–"],
        ["kafka-groups", "7 (7)", "x", "x"],
        ["published", "6 (17)", "3,376 (507)", "x"],
    ]


def test_a_broken_point_is_no_breaking_point() -> None:
    killed = point("gateway", "2", 4000, None, status="partial", holds=None, reasons=["swarm-0 died"])
    assert fanout_tables(document([killed])["fanout"])[0].rows[0] == ["gateway", "broken"]


def test_savings_of_keys_delta_and_patch() -> None:
    def with_bytes(series: str, scenario: str, size: float) -> dict[str, Any]:
        made = point(series, scenario, 2000, 5.0)
        made["wire"]["bytes_per_client"] = size
        return made

    found = savings(
        [
            with_bytes("gateway 3full", "3full", 1000.0),
            with_bytes("gateway 3", "3", 300.0),
            with_bytes("gateway 3jp", "3jp", 400.0),
            with_bytes("kafka-standalone", "3", 40_000.0),
            with_bytes("kafka-standalone", "2", 99.0),
        ]
    )
    assert {(row["scenario"], row["against"]): row["percent"] for row in found} == {
        ("3full", "kafka-standalone"): pytest.approx(2.5),
        ("3", "kafka-standalone"): pytest.approx(0.75),
        ("3jp", "kafka-standalone"): pytest.approx(1.0),
        ("3", "gateway, whole updates"): pytest.approx(30.0),
        ("3jp", "gateway, whole updates"): pytest.approx(40.0),
    }


def test_published_figures_and_their_slips() -> None:
    assert published("1", "gateway", 50_000).mean_sd_ms == (787, 226)
    assert published("2", "kafka-standalone", 10_000).bits_per_s == 8.9e9
    assert published("2", "gateway", 90_000).mean_sd_ms == (1876, 1487)
    assert published("3", "gateway", 75_000).bits_per_s == 537e6, "the G is a slip"
    assert published("3jp", "gateway", 75_000).bits_per_s == 655e6
    assert published("1", "kafka-groups", 50_000).mean_sd_ms is None, "the row is a column short"
    assert published("1", "kafka-standalone", 1000).mean_sd_ms is None
    assert published("2", "gateway", 12_345).mean_sd_ms is None
    assert any("537G" in slip for slip in SLIPS)


@pytest.mark.parametrize(
    ("bits", "text"), [(14.5e6, "14.5M"), (1.163e9, "1.16G"), (900, "900"), (None, "–"), (2048, "2.05k")]
)
def test_bits(bits: float | None, text: str) -> None:
    assert bits_text(bits) == text


def test_clients() -> None:
    assert [clients_text(n) for n in (250, 1000, 1500, 38_000)] == ["250", "1K", "1.5K", "38K"]


def test_console_fits_eighty_columns() -> None:
    text = io.StringIO()
    console = Console(file=text, width=80)
    print_fanout(document(LADDER), console)
    print_blocks(document([LADDER[1]]), TABLES, console)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line], "nothing is cut off"
    assert "✗ kafka-groups, 16K: does not hold: 7 updates are missing" in lines
    assert "Number of samples: 40" in lines


def test_page_and_markdown_have_it_all() -> None:
    tables = ResultTables({LATENCY_COUNTS.name: TABLES.tables[LATENCY_COUNTS.name]})
    told = document([LADDER[1]])
    page = render_fanout(told, tables)
    for words in (
        "Most clients that held",
        "16,000",
        "Slips of the published tables",
        "Number of samples: 40",
    ):
        assert words in page
    markdown = fanout_markdown(told, tables)
    assert "| gateway | 123 (123) |" in markdown
    assert "ZOOM" in markdown


def test_plots_by_clients() -> None:
    figures = fanout_figures(document(LADDER)["fanout"])
    assert [figure["title"] for figure in figures][:2] == [
        "Mean latency by clients",
        "99th percentile by clients",
    ]
    latency = figures[0]
    assert latency["layout"]["yaxis"]["type"] == "log"
    assert {line["name"]: line["x"] for line in latency["data"]} == {
        "gateway": [1000, 16000],
        "kafka-groups": [1000],
    }
    files = fanout_pictures(document(LADDER)["fanout"])
    assert {"latency-by-clients.svg", "bandwidth-by-clients.png", "cpu-by-clients.svg"} <= set(files)
