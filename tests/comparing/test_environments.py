from __future__ import annotations

from typing import Any

from streamgauge.comparing.environments import environment_differences


def broker(**changed: Any) -> dict[str, Any]:
    properties = {"listeners": "PLAINTEXT://127.0.0.1:21395", "log.dirs": "/tmp/x/streamgauge-kafka-a1/b-1"}
    return {
        "cpu": "EPYC",
        "master": "local[2]",
        "systems": {"kafka": {"cluster_id": "x", "kafka": "4.3.1", "properties": properties}},
        **changed,
    }


def test_what_is_another_in_every_run_is_no_difference() -> None:
    other = broker(master="local[4]", live_view={"001": 1}, resumed=[1])
    other["systems"]["kafka"] = {
        "cluster_id": "y",
        "kafka": "4.3.1",
        "primed": {"took_s": 3},
        "properties": {
            "listeners": "PLAINTEXT://127.0.0.1:9999",
            "log.dirs": "/var/tmp/streamgauge-kafka-zz/b-1",
        },
    }
    assert environment_differences(broker(), other) == []


def test_machine_versions_and_settings_are() -> None:
    other = broker(cpu="Xeon", kernel="Linux 7")
    other["systems"]["kafka"]["kafka"] = "4.4.0"
    other["systems"]["kafka"]["properties"]["listeners"] = "PLAINTEXT://10.0.0.7:9092"
    found = {each.name: (each.base, each.new) for each in environment_differences(broker(), other)}
    assert found == {
        "cpu": ("EPYC", "Xeon"),
        "systems.kafka.kafka": ("4.3.1", "4.4.0"),
        "systems.kafka.properties.listeners": ("PLAINTEXT://127.0.0.1:…", "PLAINTEXT://10.0.0.7:9092"),
        "kernel": (None, "Linux 7"),
    }
