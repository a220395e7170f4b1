"""Measured costs: loads, and what each of them took, on one machine.

The fit is made when it is asked for, so the file says what was seen and nothing else.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from streamgauge.core.errors import BadInput
from streamgauge.core.folders import state_folder
from streamgauge.sizing.fitting import LinearCost
from streamgauge.sizing.loads import (
    CLIENT_QUANTITIES,
    MESSAGE_QUANTITIES,
    OF_ALL_SCENARIOS,
    ClientLoad,
    MessageLoad,
)
from streamgauge.spec.loading import parse
from streamgauge.spec.model import SpecModel

_OURS = Path(__file__).parent / "costs.json"
_Amount = Annotated[float, Field(ge=0)]


class MeasuredMessages(SpecModel):
    load: MessageLoad
    took: dict[str, _Amount]

    @field_validator("took")
    @classmethod
    def _known(cls, took: dict[str, float]) -> dict[str, float]:
        return _only(took, MESSAGE_QUANTITIES)


class MeasuredClients(SpecModel):
    load: ClientLoad
    took: dict[str, _Amount]

    @field_validator("took")
    @classmethod
    def _known(cls, took: dict[str, float]) -> dict[str, float]:
        return _only(took, CLIENT_QUANTITIES)


class Costs(SpecModel):
    cpu: str
    """The machine's."""
    cores: int
    measured_on: str
    """A date."""
    version: str
    """Of streamgauge."""
    messages: tuple[MeasuredMessages, ...]
    clients: tuple[MeasuredClients, ...]

    @property
    def scenarios(self) -> list[str]:
        return list(dict.fromkeys(one.load.scenario for one in self.clients))

    def of_messages(self, quantity: str) -> LinearCost:
        found = self._messages.get(quantity)
        if found is None:
            known = [one for one in self.messages if one.took.get(quantity)]
            found = LinearCost(
                quantity,
                tuple(one.load.causes(quantity) for one in known),
                tuple(one.took[quantity] for one in known),
            )
            self._messages[quantity] = found
        return found

    def of_clients(self, scenario: str, quantity: str) -> LinearCost:
        if scenario not in self.scenarios:
            raise BadInput(
                f"--scenario {scenario}: nothing was measured of it; allowed: {', '.join(self.scenarios)}"
            )
        is_any = quantity in OF_ALL_SCENARIOS
        alike = [one for one in self.clients if is_any or one.load.scenario == scenario]
        known = [one for one in alike if one.took.get(quantity)]
        return LinearCost(
            f"scenario {scenario}: {quantity}",
            tuple(one.load.causes(quantity) for one in known),
            tuple(one.took[quantity] for one in known),
        )

    @cached_property
    def _messages(self) -> dict[str, LinearCost]:
        return {}


def _only(took: dict[str, float], known: tuple[str, ...]) -> dict[str, float]:
    if unknown := [name for name in took if name not in known]:
        raise ValueError(f"there is no quantity {unknown[0]!r}; allowed: {', '.join(known)}")
    return took


def own_costs_file() -> Path:
    """Where a calibration of this machine is kept."""
    return state_folder() / "costs.json"


def read_costs(path: Path) -> Costs:
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise BadInput(f"{path}: not valid JSON: {error}") from None
    return parse(Costs, content, str(path))


def our_costs() -> Costs:
    """A table that comes with streamgauge, of a small machine."""
    return read_costs(_OURS)


def write_costs(costs: Costs, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(costs.model_dump_json(indent=1) + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None
