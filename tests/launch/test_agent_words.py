from __future__ import annotations

import logging
from pathlib import Path

import pytest

from streamgauge.agents.diary import Manifest
from streamgauge.core.environment import host_name
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.agent_words import AgentLogs, tell_done, to_blame, why_broken

ERROR = "2026-01-01 10:00:00,000 ERROR streamgauge.librdkafka: 1/1 brokers are down"


def test_how_an_agent_ended_is_told_with_its_counts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "streamgauge")
    tell_done(Manifest("producer-0", "001", "failed", "no broker", counts={"sends": 3}))
    assert caplog.messages == ["producer-0 has failed: no broker (sends 3)"]


def test_whose_disk_is_full_is_told_unless_it_is_this_hosts() -> None:
    broken = Manifest("producer-0", "001", "failed", "the disk is full", hostname="right")
    assert why_broken(broken) == "follower right: the disk is full"
    broken.hostname = host_name()
    assert why_broken(broken) == "the disk is full"
    assert why_broken(Manifest("producer-0", "001", "failed")) == "an agent failed"


def test_who_broke_is_to_blame_and_not_who_was_given_up_for_it() -> None:
    given_up = Manifest("producer-0", "001", "failed", "given up", "GivenUp")
    refused = Manifest("producer-1", "001", "failed", "cannot write", "Refused")
    assert to_blame([given_up, refused, Manifest("consumer-0", "001", "stopped")]) is refused
    assert to_blame([given_up]) is given_up
    assert to_blame([Manifest("consumer-0", "001", "timed_out")]) is None


def test_errors_of_clients_are_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "streamgauge")
    run = RunDir(str(tmp_path))
    logs = AgentLogs(run)
    debug = "2026-01-01 10:00:00,000 DEBUG streamgauge.librdkafka: a metadata request"
    run.write_text(run.log("producer-0"), f"{debug}\n{ERROR}\n")
    logs.tell(["producer-0", "consumer-0"])
    assert caplog.messages == [f"producer-0: {ERROR}"]
    logs.tell(["producer-0"])
    assert len(caplog.messages) == 1


def test_a_client_that_repeats_itself_is_cut_short(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "streamgauge")
    run = RunDir(str(tmp_path))
    run.write_text(run.log("producer-0"), f"{ERROR}\n" * 50)
    AgentLogs(run).tell(["producer-0"])
    assert len(caplog.messages) == 21
    assert "30 more" in caplog.messages[-1]


def test_without_debug_no_log_is_read(tmp_path: Path) -> None:
    logging.getLogger("streamgauge.agents").setLevel(logging.WARNING)
    try:
        AgentLogs(RunDir(str(tmp_path / "not there"))).tell(["producer-0"])
    finally:
        logging.getLogger("streamgauge.agents").setLevel(logging.NOTSET)
