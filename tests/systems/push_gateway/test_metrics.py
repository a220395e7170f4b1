from __future__ import annotations

from streamgauge.systems.push_gateway.metrics import Counters, exposition


def test_the_text_is_what_prometheus_reads() -> None:
    text = exposition(Counters(frames=7), [("sessions", "open sessions", 3)], process=2).decode()
    assert text.endswith("\n")
    lines = text.splitlines()
    assert "# TYPE streamgauge_gateway_frames_total counter" in lines
    assert 'streamgauge_gateway_frames_total{process="2"} 7' in lines
    assert "# HELP streamgauge_gateway_sessions open sessions" in lines
    assert 'streamgauge_gateway_sessions{process="2"} 3' in lines
    names = [line.split("{")[0] for line in lines if not line.startswith("#")]
    assert len(set(names)) == len(names)
