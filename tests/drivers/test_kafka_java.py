from __future__ import annotations

from tests.drivers.kafka_conformance import KafkaConformance


class TestBatches(KafkaConformance):
    driver_name = "kafka_java"
    settings = {"crossing": "batch"}
    native_linger = "linger.ms"
    native_unknown = "no.such.setting"


class TestRecords(KafkaConformance):
    driver_name = "kafka_java"
    settings = {"crossing": "record"}
    native_linger = "linger.ms"
    native_unknown = "no.such.setting"
