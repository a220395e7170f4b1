"""Finding a driver by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.drivers.contract import Driver
from streamgauge.spec.loading import parse
from streamgauge.spec.target import Target

GROUP = "streamgauge.drivers"


def driver_names() -> list[str]:
    return sorted({point.name for point in entry_points(group=GROUP)})


def driver_class(target: Target) -> type[Driver]:
    """The driver of a target; its settings are checked on the way."""
    found = [point for point in entry_points(group=GROUP) if point.name == target.driver]
    if not found:
        raise BadInput(
            f"target {target.name}: driver: there is no driver {target.driver!r}; "
            f"allowed: {', '.join(driver_names())}"
        )
    try:
        kind = found[0].load()
    except ImportError as error:
        raise NotInstalled(
            f"target {target.name}: driver {target.driver} cannot be loaded: {error}; {_remedy(found[0])}"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Driver)):
        raise BadInput(f"target {target.name}: driver {target.driver}: {kind!r} is not a streamgauge driver")
    parse(kind.settings_model, target.settings, f"target {target.name}: settings")
    return kind


def open_driver(target: Target, endpoints: Mapping[str, str]) -> Driver:
    return driver_class(target)(target, endpoints)


def _remedy(point: EntryPoint) -> str:
    """An entry point names the extra that its client library comes with."""
    package = point.dist.name if point.dist is not None else "streamgauge"
    # Not `point.extras`: Python 3.11 splits names at a hyphen.
    extra = point.value.partition("[")[2].strip(" ]")
    if not extra:
        return f"is {package} installed whole?"
    return f"install what it needs: pip install '{package}[{extra}]'"
