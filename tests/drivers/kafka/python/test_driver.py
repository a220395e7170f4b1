from __future__ import annotations

from tests.drivers.kafka.kafka_conformance import KafkaConformance


class TestConformance(KafkaConformance):
    driver_name = "kafka_python"
    native_linger = "linger_ms"
    native_unknown = "no_such_setting"
