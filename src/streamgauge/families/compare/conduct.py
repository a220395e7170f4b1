"""How a comparison is conducted: one agent leads all of it, and its rounds belong together."""

from __future__ import annotations

from streamgauge.core.errors import BadInput
from streamgauge.drivers.engine import has_timed_loops
from streamgauge.drivers.registry import driver_class
from streamgauge.families.compare.workload import CompareWorkload
from streamgauge.launch.conduct import Conduct
from streamgauge.spec.workload import Workload


class CompareConduct(Conduct):
    def check(self, workload: Workload) -> None:
        assert isinstance(workload, CompareWorkload)
        check_comparison(workload)


def check_comparison(workload: CompareWorkload) -> None:
    """Engines are not mixed unless that is wanted, and every library can do what is asked for."""
    comparison = workload.comparison
    drivers = {target.name: driver_class(target) for target in workload.targets}
    without = [name for name, driver in drivers.items() if not has_timed_loops(driver)]
    if comparison.engine == "jvm" and without:
        if len(without) == len(drivers):
            raise BadInput(
                f"comparison.engine: {' and '.join(without)} have no timed loops of the engine jvm; "
                "allowed: python"
            )
        if not comparison.mix_engines:
            raise BadInput(
                f"comparison.engine: {without[0]} has no timed loops of the engine jvm, and a loop in the "
                "JVM is not set against one in Python unawares; allowed: python, or mix_engines "
                "(--mix-engines)"
            )
    simulated = [name for name, driver in drivers.items() if driver.capabilities.simulated_time]
    if simulated and len(simulated) < len(drivers):
        raise BadInput(f"comparison: {simulated[0]} lives in simulated time, the other target does not")
    if simulated and comparison.round_trip:
        raise BadInput("comparison.round_trip: the simulated broker has no round trips; leave it out")
