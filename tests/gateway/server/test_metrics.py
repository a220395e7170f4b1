from __future__ import annotations

from streamgauge.gateway.server.contract import SourceCounters
from streamgauge.gateway.server.metrics import Counters, exposition


def test_the_text_is_what_prometheus_reads() -> None:
    sources = {("SET", "A"): SourceCounters(records_read=5), ("SET", 'b"\\'): SourceCounters(records_read=6)}
    gauges = [("sessions", "open sessions", 3)]
    text = exposition(Counters(frames=7), gauges, {"cpu": 4}, process=2, sources=sources).decode()
    assert text.endswith("\n")
    lines = text.splitlines()
    assert "# TYPE streamgauge_gateway_frames_total counter" in lines
    assert 'streamgauge_gateway_frames_total{process="2"} 7' in lines
    assert "# HELP streamgauge_gateway_sessions open sessions" in lines
    assert 'streamgauge_gateway_sessions{process="2"} 3' in lines
    read = "streamgauge_gateway_records_read_total"
    assert f'{read}{{process="2",adapter_set="SET",data_adapter="A"}} 5' in lines
    assert f'{read}{{process="2",adapter_set="SET",data_adapter="b\\"\\\\"}} 6' in lines
    values = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(set(values)) == len(values)
    kinds = [line for line in lines if line.startswith("# TYPE")]
    assert len(set(kinds)) == len(kinds)
