"""Names that flags and workloads of a fan-out share; apart, since telling the flags loads no models."""

from __future__ import annotations

from typing import Literal, get_args

ScenarioName = Literal["1", "2", "3", "3jp", "3td", "3full"]
FOUND, TOLD = "found by port", "told by"
"""How a server that the run did not start is watched: part of its name in the samples."""
SCENARIO_NAMES: tuple[ScenarioName, ...] = get_args(ScenarioName)
