"""What can be known to be wrong with a case before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from pathlib import Path

from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.drivers.engine import JvmDriver
from streamgauge.drivers.registry import driver_class
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import DisturbedWork, FaultSpec, fault_class
from streamgauge.spec.secrets import environment_of
from streamgauge.systems.equipment import Equipment


def impossible_cases(cases: Sequence[Case], asked: Callable[[Case], str | None]) -> dict[str, BadInput]:
    """By id, why a case cannot be run. A workload none of whose cases can be run is refused as a whole.

    `asked`: what the family of the cases says.
    """
    missing: dict[str, BadInput] = {}
    for target in {case.target.name: case.target for case in cases}.values():
        try:
            driver_class(target)
        except NotInstalled as error:
            missing[target.name] = error  # the other targets can be measured all the same
        environment_of(target)
    found = {case.id: missing[case.target.name] for case in cases if case.target.name in missing}
    possible = [case for case in cases if case.id not in found]
    found |= {
        case.id: BadInput(why) for case in possible if (why := _why_impossible(case, asked)) is not None
    }
    if len(found) == len(cases):
        raise found[cases[0].id]
    return found


def _why_impossible(case: Case, asked: Callable[[Case], str | None]) -> str | None:
    replicas, target, system = case.topic_settings.replicas, case.target, case.target.system
    most = None if system is None else system.most_replicas
    if most is not None and replicas > most:
        return f"topics.replicas: {replicas} replicas need as many brokers; target {target.name} has {most}"
    for spec in faults_of(case):
        if (why := fault_class(spec.kind).why_impossible(spec, case)) is not None:
            return str(why)
    return asked(case)


def faults_of(case: Case) -> tuple[FaultSpec, ...]:
    """What is to be done to its system while it runs."""
    return case.work.faults if isinstance(case.work, DisturbedWork) else ()


def equipment_for(cases: Iterable[Case]) -> Equipment | None:
    """What their system has to be started with; None: nothing is done to it."""
    wanted: list[Equipment] = [
        fault_class(spec.kind).equipment(spec) for case in cases for spec in faults_of(case)
    ]
    return reduce(or_, wanted) if wanted else None


def why_load_is_impossible(case: Case) -> str | None:
    """What the driver of the target cannot do of the load."""
    load, target = case.load, case.target
    lines_of = getattr(load.message.size, "lines_of", None)
    if lines_of is not None and not Path(lines_of).is_file():
        return f"load.message.size.lines_of: {lines_of}: no such file"
    kind = driver_class(target)
    can = kind.capabilities
    if load.engine == "jvm" and not issubclass(kind, JvmDriver):
        return f"load.engine: driver {target.driver} of target {target.name} has no engine jvm"
    message = load.message
    for field, is_wanted, is_there in (
        ("streams: per_partition", load.streams == "per_partition", can.placed),
        ("completions: false", not load.completions, can.unreported),
        ("message: a header in the key", message.carrier == "key", can.keyed),
        ("message: a header in record headers", message.carrier == "headers", can.record_headers),
        # Left out in silence, they would be missed by whoever reads the figures.
        ("message.keys", message.keys.kind != "none", can.keyed),
        ("message.headers", bool(message.headers), can.record_headers),
        ("transactions", load.transactions is not None, can.transactional),
    ):
        if is_wanted and not is_there:
            return f"load.{field}: driver {target.driver} of target {target.name} cannot do that"
    return None
