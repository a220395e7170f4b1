from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from streamgauge.report.gnuplot import gnuplot_data, gnuplot_script
from streamgauge.report.knob_points import KnobPlot, knob_plot

from .plotted import document_of, point_case


def plot_of(acks: tuple[str, ...] = ("1", "all"), **more: Any) -> KnobPlot:
    """Two clusters over three partition counts, of which the second lacks one."""
    documents = [
        document_of(
            f"r-{n}", [point_case(partitions=p, acks=a, target=t, **more) for a in acks for p in counts]
        )
        for n, (t, counts) in enumerate((("Confluent's", (1, 2, 4)), ("MS_K", (1, 4))))
    ]
    plot = knob_plot(documents)
    assert plot is not None
    return plot


def blocks_of(data: str) -> list[list[str]]:
    blocks = data.split("\n\n\n")
    return [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]


def test_the_data_have_a_block_a_panel_and_cluster_and_a_row_a_value() -> None:
    blocks = blocks_of(gnuplot_data(plot_of()))
    assert [len(block) for block in blocks] == [3] * 4
    assert blocks[0][0] == '0 "1" 1 10 20 6.25 100'
    assert blocks[1][1] == '1 "2" ? ? ? ? ?'


def test_the_script_plots_boxes_and_lines_as_the_recipe_did() -> None:
    plot = plot_of()
    script = gnuplot_script(plot, "partitions.dat", "partitions-gnuplot.svg")
    curves = re.findall(r"'partitions\.dat' index (\d+) using (\S+) with (\w+).* title '(.*)'", script)
    assert len(curves) == 2 * 2 * 5
    assert {int(index) for index, *_ in curves} == set(range(4))
    assert {style for _, _, style, _ in curves} == {"boxes", "linespoints"}
    titles = [title for *_, title in curves[:10]]
    assert titles[:2] == ["Min Lat Confluent''s", "Min Lat MS_K"]
    assert titles[-2:] == ["Msg/s Confluent''s", "Msg/s MS_K"]
    assert script.count("set logscale y\n") == script.count("set logscale y2\n") == 1
    assert "set xtics ('1' 0, '2' 1, '4' 2)" in script


def test_boxes_of_one_value_stand_side_by_side() -> None:
    script = gnuplot_script(plot_of(), "p.dat", "p.svg")
    shifts = [float(shift) for shift in re.findall(r"\(\$1([+-][\d.]+)\)", script)[:6]]
    width = float(re.findall(r"set boxwidth ([\d.]+)", script)[0])
    steps = [later - earlier for earlier, later in pairwise(shifts)]
    assert steps == pytest.approx([width] * 5, abs=1e-3)
    assert shifts[0] == pytest.approx(-shifts[-1])
    assert 6 * width < 1


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="Gnuplot is not installed here")
@pytest.mark.parametrize(
    "plot",
    [plot_of(), plot_of(("1",)), plot_of(("1",), runtime_s=0.0)],
    ids=["panels", "one panel", "no rates"],
)
def test_it_runs_in_gnuplot(tmp_path: Path, plot: KnobPlot) -> None:
    (tmp_path / "p.dat").write_text(gnuplot_data(plot))
    (tmp_path / "p.gp").write_text(gnuplot_script(plot, "p.dat", "p.svg"))
    done = subprocess.run(
        ["gnuplot", "p.gp"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    drawn = (tmp_path / "p.svg").read_text()
    assert drawn.rstrip().endswith("</svg>")
    assert "Min Lat MS_K" in drawn
