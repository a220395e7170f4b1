"""The workload of `fanout`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from streamgauge.families.fanout.section import Fanout
from streamgauge.spec.workload import Workload


class FanoutWorkload(Workload):
    """Each target is a series of more and more clients."""

    kind: Literal["fanout"] = "fanout"
    fanout: Fanout

    @model_validator(mode="after")
    def _known_groups(self) -> FanoutWorkload:
        names = {target.name for target in self.targets}
        unknown = [name for name in self.fanout.groups if name not in names]
        if unknown:
            raise ValueError(f"fanout.groups: there is no target {unknown[0]!r}")
        return self

    @model_validator(mode="after")
    def _gateways_of_its_own(self) -> FanoutWorkload:
        there = [target.name for target in self.targets if target.settings.get("gateway")]
        if self.fanout.gateway_hosts and there:
            raise ValueError(
                f"fanout.gateway_hosts: target {there[0]} names a gateway that runs; leave out one of them"
            )
        return self
