"""What an agent of a family loads: its role, and nothing of Spark, analysis or report."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

LOAD = """
import sys
import streamgauge.agents.process
from streamgauge.spec.families import kinds, family_of
from streamgauge.agents.assignment import Assignment
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.spec.target import Target
kind, role = sys.argv[1:]
family = family_of(kind)
assert role in family.roles
try:
    family.life(Assignment.model_construct(
        run="/nowhere", case="001", kind=kind, work=family.work_model().model_construct(),
        task=AgentTask(kind=role, number=0), target=Target(name="t", driver="simulated"),
        environment={}, endpoints={}, live_bootstrap=None, tag=1, topics=(),
    ))
except (AttributeError, TypeError):
    pass  # a made-up case tells nothing more than what it needs to be lived
heavy = ("pyspark", "matplotlib", "scipy", "streamgauge.analysis", "streamgauge.report")
print(sorted(name for name in sys.modules if name.startswith((*heavy, "streamgauge.launch"))))
ours = [name for name in sys.modules if name.startswith("streamgauge.families.")]
print(sorted(name for name in ours if name.count(".") > 2))
"""


@pytest.mark.parametrize(
    ("kind", "role", "module"),
    [
        ("e2e", "producer", ""),
        ("compare", "referee", "streamgauge.families.compare.referee_life"),
        ("fanout", "producer", "streamgauge.families.fanout.generator_life"),
        ("fanout", "swarm", "streamgauge.families.fanout.swarm_life"),
    ],
)
def test_an_agent_loads_its_role_alone(kind: str, role: str, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, kind, role], capture_output=True, text=True, timeout=120, check=True
    )
    heavy, ours = done.stdout.splitlines()
    assert heavy == "[]"
    assert module in ours
    others = {"compare", "fanout", "limit", "transports", "sweep", "e2e"} - {kind}
    assert not [name for name in others if f"streamgauge.families.{name}." in ours]
