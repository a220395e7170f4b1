"""Small multiples: one little plot for each knob and each figure, with the interval around it."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.units import format_bytes
from streamgauge.families.sweep.document import Effect
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, Style, short

RESPONSE_NAMES = {
    "p50_ms": "p50",
    "p99_ms": "p99",
    "messages_per_s": "msg/s",
    "cpu_us_per_message": "CPU/message",
}


def value_words(knob: str, value: object) -> str:
    if knob.endswith("size") and isinstance(value, int) and not isinstance(value, bool):
        return format_bytes(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def effect_figures(effects: Sequence[Effect]) -> list[Plot]:
    places = dict.fromkeys((effect.knob, effect.response) for effect in effects)
    return [_figure([e for e in effects if (e.knob, e.response) == place]) for place in places]


def _figure(effects: Sequence[Effect]) -> Plot:
    first = effects[0]
    name, base = RESPONSE_NAMES[first.response], value_words(first.knob, first.base)
    labels = [base, *(value_words(effect.knob, effect.value) for effect in effects)]
    line = Series(
        name,
        labels,
        [1.0, *(short(effect.ratio) for effect in effects)],
        Style(0, 2.5),
        "line and points",
        NumberText("figures", 3, "times"),
    )
    ends = [
        Series(
            title,
            labels,
            [1.0, *(None if end is None else short(end) for end in found)],
            Style(0, 1.25, "dotted"),
            "line",
            NumberText("figures", 3, "times"),
        )
        for title, found in (
            ("95% from", [effect.low for effect in effects]),
            ("to", [effect.high for effect in effects]),
        )
        if any(end is not None for end in found)
    ]
    return Plot(
        f"{name} by {first.knob}",
        [line, *ends],
        Axis(first.knob, "names"),
        Axis(f"times that at {base}", "log"),
        reading="across",
    )
