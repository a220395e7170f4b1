"""A workload that came from a browser: read with care, and said what is wrong with it.

It is a text of a stranger until it is read: bounded in size, in depth and in what it can grow to. It names no
file of this machine, no program and no option of Java (`spec/reach`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from streamgauge.core.errors import BadInput
from streamgauge.drivers.registry import driver_class
from streamgauge.spec.loading import mapping_in, parse
from streamgauge.spec.reach import Reached, reached
from streamgauge.spec.workload import Workload

MOST_BYTES = 32_768
_MOST_DEPTH = 20
_MOST_PARTS = 4_000
_SOURCE = "workload"
_REFUSED = "{}, which is not taken from a page; start it with `streamgauge run` on this machine"
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def workload_in(text: str) -> Workload:
    """Raises BadInput, one line a fault."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise BadInput(f"{_SOURCE}: longer than {MOST_BYTES:,} bytes")
    _check_shape(text)
    try:
        content = mapping_in(text, _SOURCE)
    except RecursionError:
        raise BadInput(f"{_SOURCE}: is nested too deeply") from None
    _check_target_files(content)
    workload = parse(Workload, content, _SOURCE, "the whole")
    if found := list(_reached(workload)):
        raise BadInput(
            "\n".join(f"{_SOURCE}: {field}: {_REFUSED.format(reach.value)}" for field, reach in found)
        )
    return workload


def _check_shape(text: str) -> None:
    """Before anything is built of it: a few lines with aliases may stand for more than there is memory."""
    depth = parts = 0
    try:
        for event in yaml.parse(text, _Loader):
            parts += 1
            where = f"{_SOURCE}: line {event.start_mark.line + 1 if event.start_mark else '?'}"
            if isinstance(event, yaml.AliasEvent):
                raise BadInput(f"{where}: write it out; aliases are not taken here")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > _MOST_DEPTH:
                raise BadInput(f"{where}: is nested too deeply")
            if parts > _MOST_PARTS:
                raise BadInput(f"{_SOURCE}: has more than {_MOST_PARTS:,} parts")
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"{_SOURCE}: is not valid YAML: {' '.join(str(error).split())}") from None


def _check_target_files(content: dict[str, Any]) -> None:
    """Whoever starts a run from a page does not stand in a folder; and what a file holds is not for pages."""
    targets = content.get("targets")
    for number, target in enumerate(targets if isinstance(targets, list) else ()):
        if isinstance(target, str):
            raise BadInput(f"{_SOURCE}: targets.{number}: write the target out; files are not read here")


def _reached(workload: Workload) -> Iterator[Reached]:
    """Also in settings that nobody but the driver knows."""
    yield from reached(workload)
    for number, target in enumerate(workload.targets):
        settings = driver_class(target).settings_model.model_validate(target.settings)
        yield from reached(settings, f"targets.{number}.settings")
