"""Faults of the gateway that a case has for itself."""

from __future__ import annotations

from typing import Final, Literal

from streamgauge.core.errors import BadInput
from streamgauge.faults.contract import Ending, Fault
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.load import Load

GATEWAY_RESTART: Final = "gateway_restart"


class GatewayRestartSpec(FaultSpec):
    kind: Literal["gateway_restart"] = GATEWAY_RESTART


class GatewayRestart(Fault):
    """It knows nothing of its sessions then: clients open new ones, and what was sent meanwhile is missed."""

    spec_model = GatewayRestartSpec
    words = (
        "kill -9 of a fan-out's gateway; after `for`, or at once, it is started again on the same port, and "
        "clients come back"
    )
    needs = "a fan-out (fanout.faults) whose gateway the run starts on the launcher's host"
    needs_members = False
    ending = Ending.AT_ONCE
    _names: tuple[str, ...] = ()

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if isinstance(case.work, Load):
            return f"load.faults: {spec.kind}: a load has no gateway; it is for a fan-out (fanout.faults)"
        return None

    def begin(self) -> str:
        if self.scene.servers is None:
            raise BadInput(
                "this case has no gateway of its own: faults are only done to what the run started"
            )
        self._names = tuple(self.scene.servers.names)
        for name in self._names:
            self.scene.servers.kill(name)
        return ", ".join(self._names)

    def end(self) -> None:
        assert self.scene.servers is not None
        for name in self._names:
            self.scene.servers.start_again(name)
