"""`streamgauge faults` lists what a workload may have on its timeline."""

from __future__ import annotations

import json

from streamgauge.spec.fault import fault_kinds

from .streamgauge_command import in_process


def test_every_fault_is_listed_with_what_it_needs() -> None:
    done = in_process("faults")

    assert done.returncode == 0
    for kind in fault_kinds():
        assert kind in done.stdout
    assert "needs a Kafka cluster that the run starts" in done.stdout
    assert "fields: at, for, broker, partition" in done.stdout
    assert "fields: at, number" in done.stdout, "a killed agent stays away"


def test_programs_get_the_fields_of_each() -> None:
    listed = json.loads(in_process("faults", "--json").stdout)

    assert [one["kind"] for one in listed] == fault_kinds()
    kill = next(one for one in listed if one["kind"] == "broker_kill")
    assert {"at", "for", "broker"} <= set(kill["schema"]["properties"])
