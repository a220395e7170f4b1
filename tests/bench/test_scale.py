from xml.etree import ElementTree

from bench.scale import growth_lines
from bench.scale_plot import draw

FIGURES = {
    "analysis": {str(10**n): {"seconds": 2.0 * 10 ** (n - 6)} for n in (6, 7, 8)},
    "launch": {
        str(n): {"start_s": 0.5 * n, "agree_s": 0.01, "end_s": 0.0, "skew_ms": 1.0 * n} for n in (1, 2, 4)
    },
    "server": {"1": {"mb_per_s": 100.0}},
}


def test_growth_is_told_with_its_error_and_a_billion_is_reckoned() -> None:
    lines = growth_lines(FIGURES)
    assert "analysis: seconds grows as" in lines[0]
    assert "x^1.00 ± 0.00; 1,000,000,000 messages would take 2,000 s (2,000–2,000)" in lines[0]
    assert not any("end_s" in line or "mb_per_s" in line for line in lines), "nothing to draw a line through"


def test_every_point_is_drawn_once_and_inside() -> None:
    svg = ElementTree.fromstring(draw(FIGURES))
    circles = svg.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 3 + 3 + 3
    for circle in circles:
        assert 0 <= float(circle.attrib["cx"]) <= 260
        assert 0 <= float(circle.attrib["cy"]) <= 200
