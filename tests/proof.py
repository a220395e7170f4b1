"""How hard tests try: a little in `make test`, long in `make proof`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from .core.properties import untimed

PROOF = os.environ.get("STREAMGAUGE_PROOF") == "1"


def tries(usual: int, proof: int) -> settings:
    return settings(
        untimed,
        max_examples=proof if PROOF else usual,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
