"""Finding a driver by its name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.drivers.contract import Driver
from streamgauge.spec.loading import parse
from streamgauge.spec.target import Target

GROUP = "streamgauge.drivers"


def driver_names() -> list[str]:
    return list(points_of(GROUP))


def drivers_with(contract: type) -> list[str]:
    """Names of those that keep a further contract, as far as their libraries are installed."""
    found = []
    for name, point in points_of(GROUP).items():
        with suppress(NotInstalled):
            if issubclass(load(point, f"driver {name}"), contract):
                found.append(name)
    return found


def driver_class(target: Target) -> type[Driver]:
    """The driver of a target; its settings are checked on the way."""
    point = points_of(GROUP).get(target.driver)
    if point is None:
        raise BadInput(
            f"target {target.name}: driver: there is no driver {target.driver!r}; "
            f"allowed: {', '.join(driver_names())}"
        )
    kind = load(point, f"target {target.name}: driver {target.driver}")
    if not (isinstance(kind, type) and issubclass(kind, Driver)):
        raise BadInput(f"target {target.name}: driver {target.driver}: {kind!r} is not a streamgauge driver")
    parse(kind.settings_model, target.settings, f"target {target.name}: settings")
    return kind


def open_driver(target: Target, endpoints: Mapping[str, str]) -> Driver:
    return driver_class(target)(target, endpoints)
