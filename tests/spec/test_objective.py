from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.spec.metrics import OF_MESSAGES, BoundUnit
from streamgauge.spec.objective import flagged_objectives, read_objective, read_objectives


@pytest.mark.parametrize(
    ("text", "name", "sign", "bound", "unit", "written"),
    [
        ("p99<20ms", "p99", "<", 20, "ms", "p99<20ms"),
        (" p99.9 <= 1s ", "p99.9", "<=", 1000, "ms", "p99.9<=1000ms"),
        ("p99.990<20ms", "p99.99", "<", 20, "ms", "p99.99<20ms"),
        ("p42<20ms", "p42", "<", 20, "ms", "p42<20ms"),
        ("max<500us", "max", "<", 0.5, "ms", "max<0.5ms"),
        ("mean<1234567.891ms", "mean", "<", 1234567.891, "ms", "mean<1234567.891ms"),
        ("lost=0", "lost", "=", 0, "messages", "lost=0"),
        ("duplicates<=3", "duplicate", "<=", 3, "messages", "duplicate<=3"),
        ("errors=0", "failed", "=", 0, "messages", "failed=0"),
        ("rate>=95%", "rate", ">=", 95, "%", "rate>=95%"),
        ("rate > 10k/s", "rate", ">", 10_000, "/s", "rate>10000/s"),
        ("valid", "valid", "", 0, "", "valid"),
    ],
)
def test_objectives_are_read_as_people_write_them(
    text: str, name: str, sign: str, bound: float, unit: str, written: str
) -> None:
    found = read_objective(text, OF_MESSAGES)
    assert (found.metric.name, found.sign, found.bound, found.unit) == (name, sign, bound, BoundUnit(unit))
    assert str(found) == found.model_dump() == written
    assert read_objective(written, OF_MESSAGES) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p99", "p99 needs a bound"),
        ("p99>20ms", "of p99 use < or <="),
        ("p99=20ms", "of p99 use < or <="),
        ("p0<20ms", "there is no figure 'p0'"),
        ("p100<20ms", "there is no figure 'p100'"),
        ("speed<20ms", "there is no figure 'speed'; allowed: p50, p99.9 or any other percentile, mean, "),
        ("p99<20", "has no unit"),
        ("p99<soon", "is not a duration"),
        ("p99<0ms", "no latency is below 0"),
        ("lost<0", "write lost=0"),
        ("lost=some", "is not a number of messages"),
        ("lost=-1", "is not a number of messages"),
        ("lost=" + 400 * "9", "is not a number of messages"),
        ("rate<95%", "of rate use > or >="),
        ("rate>=0%", "is not a share"),
        ("rate>=nan%", "is not a share"),
        ("rate>=fast", "is not a rate"),
        ("rate>=0/s", "a rate is above 0"),
        ("valid=1", "write it alone"),
        ("", "is not an objective"),
        ("p99<20ms lost=0", "has no unit"),
        (3, "is not an objective"),
    ],
)
def test_what_is_no_objective_is_refused_in_one_line(text: object, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("(", r"\(")) as refused:
        read_objective(text, OF_MESSAGES)
    assert "\n" not in str(refused.value)


def test_a_figure_keeps_to_it_or_does_not() -> None:
    for text, good, bad in (
        ("p99<20ms", 19.999, 20.0),
        ("p99<=20ms", 20.0, 20.001),
        ("lost=0", 0, 1),
        ("rate>=95%", 95.0, 94.9),
        ("rate>10/s", 10.1, 10.0),
        ("valid", 1, 0),
    ):
        objective = read_objective(text, OF_MESSAGES)
        assert objective.holds(good)
        assert not objective.holds(bad)


def test_one_alone_needs_no_list_and_none_is_said_twice() -> None:
    assert [str(each) for each in read_objectives("valid", OF_MESSAGES)] == ["valid"]
    with pytest.raises(ValueError, match="p99 has two objectives"):
        read_objectives(["p99<1s", "p99.0<2s"], OF_MESSAGES)
    with pytest.raises(ValueError, match="must be a list of objectives"):
        read_objectives({"p99": 1}, OF_MESSAGES)


def test_a_flag_is_named_where_it_is_wrong() -> None:
    with pytest.raises(BadInput, match=r"^--slo: 'holds': there is no figure 'holds'; allowed: "):
        flagged_objectives("e2e", ["holds"])
    assert [str(each) for each in flagged_objectives("fanout", ["holds"])] == ["holds"]
