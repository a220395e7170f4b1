"""Does a series hold? Told from what the swarms counted, at once, so that the ladder can end there."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.agents.diary import Manifest
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import frequency_text
from streamgauge.launch.agent_words import to_blame
from streamgauge.launch.conduct import Judgement


def hold_of(point: FanoutPoint, manifests: Sequence[Manifest]) -> Judgement:
    """The rule: everything was delivered to everybody, and the mean latency is within the limit."""
    if (broken := to_blame(manifests)) is not None:
        return Judgement(False, f"does not hold: {broken.reason}")
    swarms = [manifest.counters for manifest in manifests if manifest.counters]
    if not swarms:
        return Judgement(False, "does not hold: no swarm told what it got")
    total = {name: sum(counted.get(name, 0) for counted in swarms) for name in swarms[0]}
    counted = f"{total['received']:,} of {total['expected']:,} updates came"
    if conflated := total.get("conflated", 0):
        counted += f", {conflated:,} conflated ({frequency_text(point.fanout.max_frequency)})"
    mean_ms = total["latency_sum_us"] / 1000 / total["samples"] if total["samples"] else None
    limit_s = point.fanout.mean_limit
    if total["missing"] or total["gone"]:
        why = next((manifest.reason for manifest in manifests if manifest.reason), None)
        more = f"; {why}" if why else ""
        return Judgement(False, f"does not hold: {total['missing']:,} updates are missing, {counted}{more}")
    if mean_ms is None:
        return Judgement(False, "does not hold: no measured client got anything")
    if mean_ms > limit_s * 1000:
        return Judgement(False, f"does not hold: mean {mean_ms:,.0f} ms is above {limit_s:g} s; {counted}")
    return Judgement(True, f"mean {mean_ms:,.1f} ms over {total['samples']:,} samples; {counted}")
