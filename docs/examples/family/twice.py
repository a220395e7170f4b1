"""A family: the same load several times on each target, to see how much one run differs from the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import typer
from pydantic import Field

from streamgauge.plan.cases import Case, load_case
from streamgauge.spec.family import Family
from streamgauge.spec.load import Load
from streamgauge.spec.loading import parse
from streamgauge.spec.model import Count
from streamgauge.spec.workload import Workload


class TwiceWorkload(Workload):
    kind: Literal["twice"] = "twice"
    load: Load
    times: Count = Field(default=2, ge=1)
    """How often each target is measured."""


class Twice(Family[TwiceWorkload]):
    kind = "twice"
    marks = frozenset({"times"})  # fields by which a file without `kind:` is known as yours
    commands = {"twice": "Measure the same load several times."}
    field_words = {"times": "how often each target is measured"}

    def workload_model(self) -> type[TwiceWorkload]:
        return TwiceWorkload

    def expand(self, workload: TwiceWorkload, run_id: str) -> Iterator[Case]:
        number = 0
        for iteration in range(1, workload.times + 1):
            for target in workload.targets:
                number += 1
                yield load_case(
                    self.kind,
                    target,
                    workload.load,
                    f"{number:03d}",
                    run_id,
                    parameters={},
                    iteration=iteration,
                )

    def command(self, name: str) -> Callable[..., Any]:
        return twice


def twice(
    bootstrap: Annotated[str, typer.Option(metavar="HOST:PORT", help="Kafka to test.")],
    rate: Annotated[str, typer.Option(metavar="RATE", help="Messages per second: 1000, 10k/s.")] = "1000",
    duration: Annotated[str, typer.Option(metavar="TIME", help="How long each is measured.")] = "10s",
    times: Annotated[int, typer.Option(metavar="COUNT", help="How often.", min=1)] = 2,
) -> Workload:
    content = {
        "kind": "twice",
        "name": "twice",
        "targets": [{"name": "kafka", "driver": "kafka_confluent", "settings": {"bootstrap": bootstrap}}],
        "load": {"rate": rate, "duration": duration, "warm_up_messages": "auto"},
        "times": times,
    }
    return parse(Workload, content, "twice")
