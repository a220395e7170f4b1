import pyarrow as pa
import pytest

from streamgauge.analysis.bottleneck import bottleneck, bottleneck_reason

pytestmark = pytest.mark.spark

HELD = {"is_paced": True, "constant_rate_per_s": 10_000.0, "lag_ms": 0.5, "ack_ms": 1.0}
LATE = HELD | {"lag_ms": 50.0}
UNLIMITED = {"is_paced": False, "ack_ms": 1.0}

SITUATIONS = {
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
    "nothing ran": ({"is_paced": False, "measured": 0}, "none"),
}

COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("is_paced", pa.bool_()),
        ("missed_rate", pa.bool_()),
        ("measured", pa.int64()),
        ("producers", pa.int32()),
        ("broker_host_cores", pa.int32()),
        *(
            (name, pa.float64())
            for name in (
                "constant_rate_per_s",
                "lag_ms",
                "ack_ms",
                "sent_messages_per_s",
                "received_messages_per_s",
                "producer_cores",
                "consumer_cores",
                "broker_cores",
                "machine_share",
            )
        ),
    ]
)


@pytest.fixture(scope="module")
def judged(session):
    usual = {"missed_rate": False, "measured": 100, "producers": 1}
    rows = [usual | figures | {"name": name} for name, (figures, _) in SITUATIONS.items()]
    frame = session.createDataFrame(pa.Table.from_pylist(rows, schema=COLUMNS))
    return {row[0]: row[1:] for row in frame.selectExpr("name", bottleneck(), bottleneck_reason()).collect()}


@pytest.mark.parametrize("name", SITUATIONS)
def test_limit(judged, name):
    assert judged[name][0] == SITUATIONS[name][1]


def test_reasons_carry_the_figures(judged):
    assert judged["late, producer busy"][1] == (
        "a producer had no CPU left: schedule lag p99 50.0 ms, ack p50 1.00 ms, "
        "busiest producer 0.90 cores, machine 95% busy"
    )
    assert "broker 1.80 of 2 cores" in judged["late, broker busy"][1]
    assert judged["held"][1] == "the load was held: schedule lag p99 0.500 ms, ack p50 1.00 ms"
    assert judged["unlimited, nothing busy"][1].startswith("nothing was saturated: ack p50")
    assert judged["unlimited, no figures"][1] == "not known without CPU figures: ack p50 1.00 ms"
    assert judged["nothing ran"][1] == "nothing was measured"
