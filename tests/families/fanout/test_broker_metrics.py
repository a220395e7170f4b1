"""Prometheus's text of a broker, from a server in the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.families.fanout.broker_metrics import asked, asking
from streamgauge.families.fanout.section import Fanout
from tests.waiting import wait_for

TEXT = """# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total {cpu}
process_resident_memory_bytes 1.5E9
jvm_memory_used_bytes{{area="heap"}} 5.0
kafka_server_brokertopicmetrics_bytesout_total 700.0
kafka_server_brokertopicmetrics_bytesout_total{{topic="LTest",}} 600.0
kafka_server_brokertopicmetrics_bytesin_total{{topic="LTest",}} 70.0
odd NaN
"""


class Exporter(ThreadingHTTPServer):
    daemon_threads = True
    text = TEXT
    asked_count = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/metrics"


class Answers(BaseHTTPRequestHandler):
    server: Exporter

    def do_GET(self) -> None:
        self.server.asked_count += 1
        body = self.server.text.format(cpu=self.server.asked_count).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with Exporter(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def test_cpu_memory_and_traffic_are_taken_and_topics_are_not_counted_twice(exporter: Exporter) -> None:
    told = asked(exporter.url)
    assert (told.cpu_s, told.rss_bytes) == (1.0, 1_500_000_000)
    assert (told.sent_bytes, told.received_bytes) == (700, None)


def test_java_s_memory_where_the_process_s_is_not_told(exporter: Exporter) -> None:
    exporter.text = 'process_cpu_seconds_total 3\njvm_memory_used_bytes{{area="heap"}} 5\n' + (
        'jvm_memory_used_bytes{{area="nonheap"}} 2\n'
    )
    assert asked(exporter.url).rss_bytes == 7


def test_it_is_asked_again_and_again_until_the_end(exporter: Exporter) -> None:
    with asking([exporter.url]) as brokers:
        [(name, broker)] = brokers.items()
        assert name == f"broker-1 (told by 127.0.0.1:{exporter.server_address[1]})"
        wait_for(lambda: broker.latest.cpu_s >= 3)
    seen = exporter.asked_count
    assert not [thread for thread in threading.enumerate() if thread.name == "broker-metrics"]
    assert exporter.asked_count == seen


def test_what_has_no_cpu_in_it_is_refused(exporter: Exporter) -> None:
    exporter.text = "up 1\n"
    with pytest.raises(BadInput, match=r"--broker-metrics http.*has no process_cpu_seconds_total"):
        asked(exporter.url)
    exporter.text = "process_cpu_seconds_total 1\n"
    with pytest.raises(BadInput, match="has no process_resident_memory_bytes"):
        asked(exporter.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/metrics", "no address", "http://127.0.0.1:1:1/"])
def test_what_cannot_be_read_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(BadInput, match=r"--broker-metrics .*: cannot be read: ") as refused:
        asked(url)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "/etc/passwd", "broker:7071/metrics"])
def test_only_what_is_asked_over_http_is_asked(address: str) -> None:
    with pytest.raises(ValidationError, match="is no address; allowed: http"):
        Fanout(clients=(1,), broker_metrics=(address,))
