"""Flags of a gateway that runs already: how its clients get in, and what they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.flags.options import wish

PASSWORD_VARIABLE = "STREAMGAUGE_GATEWAY_PASSWORD"
_PANEL = "A gateway that runs"

AdapterSet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The gateway's adapter set.",
        show_default="KafkaConnector",
        rich_help_panel=_PANEL,
    ),
]
DataAdapter = Annotated[
    str | None,
    wish(
        "The gateway's connection to Kafka; by default its only one.", metavar="NAME", rich_help_panel=_PANEL
    ),
]
Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Mode of subscriptions: MERGE, DISTINCT, RAW or COMMAND.",
        show_default="MERGE",
        rich_help_panel=_PANEL,
    ),
]
GatewayUser = Annotated[
    str | None,
    wish(f"User name; the password is in {PASSWORD_VARIABLE}.", metavar="NAME", rich_help_panel=_PANEL),
]
GatewayCa = Annotated[
    Path | None,
    wish(
        "For https: a PEM file of certificates to trust; by default the system's.",
        metavar="PEM",
        rich_help_panel=_PANEL,
    ),
]


def access_settings(
    adapter_set: str | None,
    data_adapter: str | None,
    mode: str | None,
    user: str | None,
    ca: Path | None,
) -> dict[str, Any]:
    """Settings of the driver, as far as they were given."""
    if ca is not None and not ca.is_file():
        raise BadInput(f"--gateway-ca {ca}: there is no such file")
    given = {
        "adapter_set": adapter_set,
        "data_adapter": data_adapter,
        "mode": None if mode is None else mode.upper(),
        "user": user,
        "password": None if user is None else f"${{{PASSWORD_VARIABLE}}}",
        "ca": None if ca is None else str(ca.absolute()),
    }
    return {name: value for name, value in given.items() if value is not None}
