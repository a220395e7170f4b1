"""Tables, plots and page of a fan-out from planted points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamgauge.core.fault_figures import FaultEffects, FaultFigures
from streamgauge.core.verdicts import CauseCode, Integrity, Validity, cause
from streamgauge.families.fanout.document import (
    FanoutAccounting,
    FanoutDocument,
    FanoutFound,
    FanoutLatency,
    Point,
    Published,
    PublishedPoint,
    Use,
    UseByRole,
    Wire,
    savings,
)
from streamgauge.families.fanout.figures import fanout_plots
from streamgauge.families.fanout.point_names import clients_text, place_name
from streamgauge.families.fanout.published import HARDWARE, SLIPS, published
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, POINT_SECONDS
from streamgauge.families.fanout.show import show_fanout
from streamgauge.families.fanout.tables import fanout_tables, verdict_table
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.report.case_document import WarmUpCourse
from streamgauge.report.document import IntegrityVerdict, State, ValidityVerdict
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.medium import Tone
from streamgauge.report.page_renderer import render_page
from streamgauge.report.plot_parts import Plot
from streamgauge.report.quantities import bits_text, cell_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Figures
from streamgauge.report.shown_tables import Table
from tests.report.seen import console_text
from tests.serve.axe import violations_of


def point(series: str, scenario: str, clients: int, mean: float | None, **more: Any) -> Point:
    via = series.partition(" ")[0]
    beside = published(scenario, via, clients)
    told = beside.mean_sd_ms
    held = mean is not None
    use = Use(cpu_cores=0.5, memory_bytes=1024.0**3)
    lost = cause(CauseCode.MISSING, message_count=7)
    content: dict[str, Any] = {
        "case": f"{series}-{clients}",
        "series": series,
        "via": via,
        "scenario": scenario,
        "clients": clients,
        "status": State.OK,
        "holds": held,
        "integrity": IntegrityVerdict(verdict=Integrity.OK)
        if held
        else IntegrityVerdict(verdict=Integrity.LOST, causes=[lost]),
        "validity": ValidityVerdict(verdict=Validity.VALID),
        "rate_per_s": 4.0,
        "max_frequency": "unfiltered" if via == "gateway" else None,
        "measured_clients": 10,
        "accounting": FanoutAccounting(**dict.fromkeys(FanoutAccounting.model_fields, 100)),
        "samples": 40 if held else 0,
        "warm_up_messages": 8,
        "warm_up_course": None,
        "latency_ms": FanoutLatency(**dict.fromkeys(FanoutLatency.model_fields, mean)),
        "wire": Wire(
            **dict.fromkeys(Wire.model_fields) | {"bytes_per_client": 1000.0, "to_clients_bits_per_s": 14.5e6}
        ),
        "use": UseByRole(broker=use, gateway=use, swarm=use, producer=use),
        "published": PublishedPoint(
            mean_ms=told[0] if isinstance(told, tuple) else None,
            sd_ms=told[1] if isinstance(told, tuple) else None,
            holds=None if told is None else isinstance(told, tuple),
            bits_per_s=beside.bits_per_s,
        ),
    }
    return Point(**content | more)


def found_of(points: list[Point]) -> FanoutFound:
    return FanoutFound(
        duration_s=60.0,
        warm_up_s=2.0,
        mean_limit_s=5.0,
        size_bytes=1000,
        max_frequency="unfiltered",
        scenarios={p.scenario: "words" for p in points},
        points=points,
        savings=savings(points),
        published=Published(hardware=HARDWARE, slips=list(SLIPS)),
    )


def document_of(points: list[Point], **more: Any) -> FanoutDocument:
    content: dict[str, Any] = {
        "run": "20260101-000000-fanout-0000",
        "name": "fanout",
        "kind": "fanout",
        "status": State.OK,
        "integrity": Integrity.OK,
        "validity": Validity.VALID,
        "environment": {},
        "fanout": found_of(points),
    }
    return FanoutDocument(**content | more)


SKIPPED = {"status": State.NOT_RUN, "notes": [cause(CauseCode.SKIPPED, "it did not hold at 16,000")]}
LADDER = [
    point("gateway", "1", 1000, 3.21),
    point("gateway", "1", 16000, 123.4),
    point("kafka-groups", "1", 1000, 7.0),
    point("kafka-groups", "1", 16000, None),
    point("kafka-groups", "1", 18000, None, **SKIPPED),
]
TABLES = ResultTables(
    {
        LATENCY_COUNTS.name: pa.Table.from_pylist(
            [{"case": "gateway-16000", "latency_ms": ms, "count": 10} for ms in (1, 2, 3, 9)],
            schema=LATENCY_COUNTS.arrow_schema(),
        ),
        POINT_SECONDS.name: pa.Table.from_pylist(
            [
                {
                    **dict.fromkeys(POINT_SECONDS.column_names),
                    "case": "gateway-16000",
                    "second": second,
                    "is_warm_up": second == 0,
                    "samples": 5,
                    "p50_ms": 1.0,
                    "p99_ms": 2.0,
                    "max_ms": 3.0,
                    "gateway_cpu_cores": 0.25 * second,
                    "gateway_memory_bytes": 3.0 * 2**20,
                    "machine_cpu_cores": 1.0,
                }
                for second in (1, 0, 2)
            ],
            schema=POINT_SECONDS.arrow_schema(),
        ),
    }
)


def texts(table: Table) -> list[list[str]]:
    return [
        [cell_text(cell, column.unit) for cell, column in zip(row.cells, table.columns, strict=True)]
        for row in table.rows
    ]


def test_a_row_a_series_a_column_a_number_of_clients_and_what_was_published_beneath() -> None:
    table = fanout_tables(found_of(LADDER))[0]
    assert [column.name for column in table.columns] == ["clients", "1K", "16K", "18K"]
    assert texts(table) == [
        ["gateway", "3.2 (3.2)", "123 (123)", "–"],
        ["published", "10 (17)", "91 (37)", "–"],
        ["kafka-groups", "7 (7)", "x", "x"],
        ["published", "6 (17)", "3,376 (507)", "x"],
    ]
    assert [row.is_beside for row in table.rows] == [False, True, False, True]


def test_a_broken_point_is_no_breaking_point() -> None:
    killed = point("gateway", "2", 4000, None, status=State.PARTIAL, holds=None)
    assert texts(fanout_tables(found_of([killed]))[0])[0] == ["gateway", "broken"]


def test_percentiles_of_few_samples_are_marked() -> None:
    table = next(t for t in fanout_tables(found_of(LADDER[:1])) if "percentiles" in t.title)
    assert texts(table) == [["gateway, 1K", "40", "3.210", "~3.210", "~3.210", "~3.210", "3.210"]]


def test_savings_of_keys_delta_and_patch() -> None:
    def with_bytes(series: str, scenario: str, size: float) -> Point:
        made = point(series, scenario, 2000, 5.0)
        made.wire.bytes_per_client = size
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
    assert {(row.scenario, row.against): row.percent for row in found} == {
        ("3full", "kafka-standalone"): pytest.approx(2.5),
        ("3", "kafka-standalone"): pytest.approx(0.75),
        ("3jp", "kafka-standalone"): pytest.approx(1.0),
        ("3", "gateway, whole updates"): pytest.approx(30.0),
        ("3jp", "gateway, whole updates"): pytest.approx(40.0),
    }


def test_savings_are_of_as_many_clients_on_both_sides() -> None:
    """One of 8K with other keys says nothing of one of 2K."""

    def with_bytes(scenario: str, clients: int, size: float) -> Point:
        made = point(f"gateway {scenario}", scenario, clients, 5.0)
        made.wire.bytes_per_client = size
        return made

    [found] = savings(
        [with_bytes("3full", 2000, 1000.0), with_bytes("3", 2000, 300.0), with_bytes("3", 8000, 1.0)]
    )
    assert (found.clients, found.percent) == (2000, pytest.approx(30.0))


def accounting(**counts: int) -> FanoutAccounting:
    return FanoutAccounting(**dict.fromkeys(FanoutAccounting.model_fields, 0) | counts)


def test_what_was_conflated_is_not_said_to_have_come() -> None:
    told = accounting(messages=40, expected=299, received=132, conflated=167)
    limited = point("gateway", "1", 1000, 3.2, max_frequency=1.0, accounting=told)
    tables = {table.title: table for table in fanout_tables(found_of([limited, LADDER[2]]))}
    table = tables["Scenario 1: conflation"]
    assert [column.name for column in table.columns][1:] == [
        "limit/s",
        "sent",
        "expected",
        "conflated",
        "received",
        "missing",
    ]
    assert texts(table) == [["gateway, 1K", "1", "40", "299", "167", "132", "0"]]
    limited_row, plain = texts(tables["Scenario 1: every update"])
    assert limited_row == ["gateway, 1K", "40", "4.000", "–", "–", "0", "0"]
    assert "–" not in plain
    assert "Scenario 1: conflation" not in {table.title for table in fanout_tables(found_of(LADDER))}
    shown = show_fanout(document_of([limited]), TABLES)
    console = console_text(shown)
    assert max(len(line.rstrip()) for line in console.splitlines()) <= 80
    assert "conflated" in console
    assert "167 more were conflated" in render_page(shown, {})


def test_an_update_has_no_price_when_the_broker_was_not_seen() -> None:
    use, unseen = Use(cpu_cores=0.5, memory_bytes=1024.0**3), Use(cpu_cores=None, memory_bytes=None)
    beside = UseByRole(broker=unseen, gateway=use, swarm=use, producer=use)
    points = [point("gateway", "1", 1000, 3.2, use=beside), point("kafka-groups", "1", 1000, 3.2)]
    table = next(table for table in fanout_tables(found_of(points)) if "cores" in table.title)
    column = [column.name for column in table.columns].index("µs/update")
    assert [row[column] for row in texts(table)] == ["–", "125,000"]
    assert "the CPU of the broker was not seen" in (table.note or "")
    assert {line.name for line in fanout_plots(points)["cpu"].series} == {"kafka-groups"}
    seen = next(table for table in fanout_tables(found_of(points[1:])) if "cores" in table.title)
    assert "not seen" not in (seen.note or "")


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
    lines = [line.rstrip() for line in console_text(show_fanout(document_of(LADDER), TABLES)).splitlines()]
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line], "nothing is cut off"
    assert "  • kafka-groups, 16K: 7 messages missing" in lines
    assert "  • kafka-groups, 18K: it did not hold at 16,000" in lines
    assert "Number of samples: 40" in lines
    assert "validity      valid" in lines


def test_page_and_markdown_have_it_all() -> None:
    shown = show_fanout(document_of([LADDER[1]]), TABLES)
    page = render_page(shown, {})
    for words in ("Most clients that held", "16,000", "What was published", "Number of samples: 40"):
        assert words in page
    markdown = shown_markdown(shown)
    assert "| gateway | 123 (123) |" in markdown
    assert "ZOOM" in markdown
    assert "- Integrity: **all accounted for**" in markdown


def test_second_by_second_there_are_a_table_and_plots_of_every_point_that_was_run() -> None:
    shown = show_fanout(document_of(LADDER), TABLES)
    [section] = [section for section in shown.sections if section.title.startswith("By second")]
    assert section.title == "By second: gateway, 16K"
    figures, table = section.blocks
    assert isinstance(figures, Figures)
    assert isinstance(table, Table)
    assert [plot.title.partition(" over")[0] for plot in figures.figures] == ["Latency", "CPU", "Memory"]
    cpu, memory = figures.figures[1:]
    assert isinstance(cpu, Plot)
    assert isinstance(memory, Plot)
    assert {line.name: list(line.y) for line in cpu.series} == {
        "gateway": [0, 0.25, 0.5],
        "machine": [1, 1, 1],
    }
    assert {line.name: list(line.y) for line in memory.series} == {"gateway": [3, 3, 3]}
    assert [(band.start, band.end) for band in cpu.bands] == [(0, 1)]
    assert [column.name for column in table.columns] == [
        *("second", "samples", "p50", "p99", "max"),
        *("gateway", "machine"),
    ]
    assert texts(table)[1] == ["1", "5", "1.000", "2.000", "3.000", "0.250", "1.000"]
    assert "Second by second" in render_page(shown, {})


def test_seconds_of_a_long_fan_out_are_left_to_the_csv_file() -> None:
    [second, *_] = TABLES.rows(POINT_SECONDS, LADDER[1].case)
    rows = [{**second, "second": number} for number in range(12 * 3600)]
    table = pa.Table.from_pylist(rows, schema=TABLES.tables[POINT_SECONDS.name].schema)
    shown = show_fanout(document_of([LADDER[1]]), ResultTables({**TABLES.tables, POINT_SECONDS.name: table}))
    [section] = [section for section in shown.sections if section.title.startswith("By second")]
    assert not any(isinstance(block, Table) for block in section.blocks)
    page = render_page(shown, {})
    assert 'href="csv/point_seconds.csv"' in page
    assert len(page) < 500_000


def test_what_a_fault_cost_is_told_of_its_point_and_lies_on_its_plots() -> None:
    fault = FaultFigures(
        kind="gateway_restart",
        target="gateway",
        began_s=1.0,
        ended_s=2.5,
        late_over_ms=30.0,
        recover_s=2.75,
        lost_count=12,
        effects=FaultEffects(sessions_lost_count=500, sessions_back_count=499, sessions_back_after_s=2.5),
    )
    hit = [point.model_copy(update={"faults": [fault]}) for point in LADDER]
    shown = show_fanout(document_of(hit), TABLES)

    [points] = [section for section in shown.sections if section.title == "Points"]
    table = next(block for block in points.blocks if isinstance(block, Table) and block.name == "faults")
    assert texts(table)[0][-1] == "500 sessions lost, 499 came back within 2.500 s"
    assert str(table.note).startswith("An update to a measured client is late")
    [seconds] = [section for section in shown.sections if section.title.startswith("By second")]
    figures = seconds.blocks[0]
    assert isinstance(figures, Figures)
    for plot in figures.figures:
        assert isinstance(plot, Plot)
        assert [(band.name.partition(" ")[0], band.start, band.end) for band in plot.bands] == [
            ("warm-up", 0, 1),
            ("gateway_restart", 1.0, 2.5),
        ]


def test_servers_that_were_there_are_named_beneath_what_they_used() -> None:
    there = found_of([LADDER[0]]).model_copy(update={"servers_there": ["broker-1 (told by h:1)"]})
    [busy] = [table for table in fanout_tables(there) if "cores kept busy" in table.title]
    assert (busy.note or "").endswith("Not started by this run: broker-1 (told by h:1).")


def test_plots_by_clients() -> None:
    plots = fanout_plots(LADDER)
    assert [plot.title for plot in plots.values()][:2] == [
        "Mean latency by clients",
        "99th percentile by clients",
    ]
    assert plots["latency"].y.scale == "log"
    assert {line.name: line.x for line in plots["latency"].series} == {
        "gateway": [1000, 16000],
        "kafka-groups": [1000],
    }
    files = show_fanout(document_of(LADDER), TABLES).files
    assert set(files) == {f"plots/{name}-by-clients.{ending}" for name in plots for ending in ("svg", "png")}
    assert str(files["plots/latency-by-clients.png"]()[:4]).endswith("PNG'")


def test_a_point_that_holds_by_figures_not_to_be_quoted_is_not_green() -> None:
    invalid = ValidityVerdict(verdict=Validity.INVALID)
    points = [point("gateway", "1", 1000, 3.2), point("gateway", "1", 2000, 3.2, validity=invalid)]
    assert [row.cells[1].tone for row in verdict_table(points).rows] == [Tone.GOOD, Tone.WARN]


def test_how_long_each_point_warmed_up_and_until_what_is_shown() -> None:
    course: dict[str, Any] = {
        "end_s": 4.25,
        "slot_s": 0.25,
        "latency_ms": [9.0] * 17 + [3.0] * 20,
        "agents_cores": [0.5] * 37,
        "systems_cores": None,
        "waited": [],
    }
    points = [
        point("gateway", "1", clients, 3.0, warm_up_course=WarmUpCourse(ended=ended, **course))
        for clients, ended in ((1000, WarmUpEnding.AT_REST), (2000, WarmUpEnding.LIMIT))
    ]
    shown = show_fanout(document_of(points), TABLES)
    table, page = verdict_table(points), render_page(shown, {})
    assert [texts(table)[n][-1] for n in range(2)] == ["4.250 s", "4.250 s"]
    assert [each.cells[-1].tone for each in table.rows] == [Tone.PLAIN, Tone.WARN]
    assert "warm-up 4.25 s, until at rest" in page
    assert "Warm-up, gateway" in page
    for each in points:
        assert f"Warm-up, {place_name(each)}: latency and CPU against" in page
    assert "not at rest" in page


@pytest.mark.browser
def test_nothing_in_it_keeps_anybody_out(tmp_path: Path) -> None:
    assert violations_of(render_page(show_fanout(document_of(LADDER), TABLES), {}), tmp_path) == []
