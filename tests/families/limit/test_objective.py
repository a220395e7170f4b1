from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from streamgauge.families.limit.objective import LATENCY_FIGURES, Objective
from streamgauge.tables.results import PERCENTILES

READ = TypeAdapter(Objective)


@pytest.mark.parametrize(
    ("text", "figure", "sign", "limit", "written"),
    [
        ("p99<20ms", "p99", "<", 20, "p99<20ms"),
        (" p99.9 <= 1s ", "p99.9", "<=", 1000, "p99.9<=1000ms"),
        ("max<500us", "max", "<", 0.5, "max<0.5ms"),
        ("lost=0", "lost", "=", 0, "lost=0"),
        ("duplicate<=3", "duplicate", "<=", 3, "duplicate<=3"),
    ],
)
def test_objectives_are_read_as_people_write_them(
    text: str, figure: str, sign: str, limit: float, written: str
) -> None:
    objective = READ.validate_python(text)
    assert (objective.figure, objective.sign, objective.limit) == (figure, sign, limit)
    assert READ.dump_python(objective) == written
    assert READ.validate_python(written) == objective


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p99", "is not an objective"),
        ("p99>20ms", "is not an objective"),
        ("p42<20ms", "there is no figure 'p42'"),
        ("p99<20", "has no unit"),
        ("p99<soon", "is not a duration"),
        ("p99<0ms", "no latency is below 0"),
        ("p99=20ms", "use < or <="),
        ("lost<0", "write lost=0"),
        ("lost=some", "is not a number of messages"),
        ("lost=-1", "is not a number of messages"),
        ("", "is not an objective"),
    ],
)
def test_what_is_no_objective_is_refused_with_words(text: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        READ.validate_python(text)


def test_a_figure_either_keeps_to_it_or_says_what_it_was() -> None:
    latency, lost = READ.validate_python("p99<20ms"), READ.validate_python("lost=0")
    assert latency.why_missed({"p99": 19.999}) is None
    assert latency.why_missed({"p99": 20.0}) == "p99 was 20 ms, not < 20 ms"
    assert READ.validate_python("p99<=20ms").why_missed({"p99": 20.0}) is None
    assert lost.why_missed({"lost": 0.0}) is None
    assert lost.why_missed({"lost": 3.0}) == "lost was 3, not = 0"
    assert latency.why_missed({"p99": None}) == "p99 is not known, so p99<20ms is not held"


def test_every_percentile_named_is_one_that_is_computed() -> None:
    named = {name.replace(".", "_") for name in LATENCY_FIGURES} - {"mean", "max"}
    assert named <= set(PERCENTILES)
