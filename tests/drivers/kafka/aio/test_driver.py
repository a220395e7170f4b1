from __future__ import annotations

import pytest

from streamgauge.testing.kafka_suite import KafkaSuite

pytestmark = pytest.mark.broker


class TestConformance(KafkaSuite):
    driver_name = "kafka_aio"
    native_linger = "linger_ms"
    native_unknown = "no_such_setting"
    without_equivalent = {"max_in_flight", "send_buffer", "receive_buffer"}
    flush_hurries = False
