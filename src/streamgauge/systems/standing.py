"""The system that stays up between runs: that of the kind which is meant where a target names none."""

from __future__ import annotations

from streamgauge.core.errors import BadInput
from streamgauge.spec.system import default_kind, system_class
from streamgauge.systems.contract import Standing


def standing_system() -> Standing:
    kind = default_kind()
    found: Standing | None = system_class(kind).standing()
    if found is None:
        raise BadInput(f"system {kind}: none of its kind stays up between runs; start one for each run")
    return found
