from typing import Any

import pytest

from streamgauge.analysis.bottleneck import Pressure, bottleneck

HELD = {"is_paced": True, "constant_rate_per_s": 10_000.0, "lag_ms": 0.5, "ack_ms": 1.0}
LATE = HELD | {"lag_ms": 50.0}
UNLIMITED = {"is_paced": False, "ack_ms": 1.0}

SITUATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "held": (HELD, "none"),
    "held, though the producer is busy": (HELD | {"producer_cores": 1.0}, "none"),
    "held by a busy machine": (HELD | {"machine_share": 0.95}, "machine_cpu"),
    "late, producer busy": (LATE | {"producer_cores": 0.9, "machine_share": 0.95}, "client_cpu"),
    "late, machine busy": (LATE | {"producer_cores": 0.4, "machine_share": 0.95}, "machine_cpu"),
    "late, broker busy": (LATE | {"broker_cores": 1.8, "broker_host_cores": 2}, "broker"),
    "late, slow acks": (LATE | {"producer_cores": 0.2, "ack_ms": 400.0}, "broker"),
    "late, all idle": (LATE | {"producer_cores": 0.2, "machine_share": 0.3}, "generator"),
    "late, no figures": (LATE, "generator"),
    "rate missed": (HELD | {"missed_rate": True}, "generator"),
    "slow schedule, a little late": (LATE | {"constant_rate_per_s": 50.0}, "none"),
    "slow schedule, very late": (LATE | {"constant_rate_per_s": 50.0, "lag_ms": 150.0}, "generator"),
    "steps": (HELD | {"constant_rate_per_s": None}, "none"),
    "late steps": (LATE | {"constant_rate_per_s": None}, "generator"),
    "consumer behind": (
        HELD | {"consumer_cores": 0.95, "sent_messages_per_s": 100.0, "received_messages_per_s": 80.0},
        "client_cpu",
    ),
    "consumer busy, not behind": (
        HELD | {"consumer_cores": 0.95, "sent_messages_per_s": 100.0, "received_messages_per_s": 100.0},
        "none",
    ),
    "unlimited, producer busy": (UNLIMITED | {"producer_cores": 0.95}, "client_cpu"),
    "unlimited, slow acks": (UNLIMITED | {"producer_cores": 0.5, "ack_ms": 900.0}, "broker"),
    "unlimited, nothing busy": (UNLIMITED | {"producer_cores": 0.5}, "none"),
    "unlimited, no figures": (UNLIMITED, "none"),
    "nothing ran": ({"is_paced": False, "measured_count": 0}, "none"),
}


def judged(name):
    return bottleneck(Pressure(**{"measured_count": 100} | SITUATIONS[name][0]))


@pytest.mark.parametrize("name", SITUATIONS)
def test_limit(name):
    assert judged(name)[0] == SITUATIONS[name][1]


def test_causes_carry_all_figures_there_are():
    _, busy = judged("late, producer busy")
    assert busy.code == "producer_out_of_cpu"
    assert busy.figures == {
        "lag_p99_ms": 50.0,
        "ack_p50_ms": 1.0,
        "busiest_producer_cores": 0.9,
        "machine_busy_share": 0.95,
    }
    _, broker = judged("late, broker busy")
    assert (broker.figures["broker_cores"], broker.figures["broker_host_core_count"]) == (1.8, 2)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("held", "load_held"),
        ("unlimited, nothing busy", "nothing_saturated"),
        ("unlimited, no figures", "no_cpu_figures"),
        ("nothing ran", "nothing_measured"),
    ],
)
def test_why_there_is_no_limit(name, code):
    assert judged(name)[1].code == code
