"""What drivers of a server have in common whose address is a setting, or that of the system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import Capabilities, Driver
from streamgauge.spec.target import Target


class ServerDriver(Driver):
    """A partition is a stream there, and values are all that a message has."""

    server: ClassVar[str]
    """As it is spoken of."""
    address_setting: ClassVar[str] = "url"
    """Of the settings, and of the endpoints of a system."""
    capabilities = Capabilities(durable=True, ordered=True, acked=True, record_headers=False, keyed=False)

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        settings, name = self.settings_model.model_validate(target.settings), self.address_setting
        self._where = f"target {target.name}: settings.{name}"
        address = getattr(settings, name) or endpoints.get(name)
        if not address:
            raise BadInput(f"{self._where}: no {self.server} address, and no system to start")
        self._given_address = str(address)
        self._partitions = int(endpoints.get("partitions", 1))

    def endpoints(self) -> dict[str, str]:
        return {"partitions": str(self._partitions)}
