"""Where agents write, and where they and the launcher meet, by where the run folder is."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.launch.agents_folder import agents_folder


@pytest.fixture
def in_a_bucket(monkeypatch: pytest.MonkeyPatch) -> RunDir:
    """Nobody is there: whoever asks for it fails."""
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    return RunDir("s3a://bucket/runs/20260101-000000-e2e-0000")


def test_on_this_host_all_is_in_the_run_folder(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    with agents_folder(run, None) as folder:
        assert (folder.run, folder.meeting, folder.meeting_here) == (run.location, run.location, run)


@pytest.mark.parametrize("address", [None, "127.0.0.1"], ids=["on this host", "on others"])
def test_events_go_into_a_bucket_and_words_do_not(in_a_bucket: RunDir, address: str | None) -> None:
    """A word was four requests there, heard after its moment, and asked for a hundred times a second."""
    with agents_folder(in_a_bucket, address) as folder:
        assert folder.run == in_a_bucket.location
        here = folder.meeting_here
        assert here.is_local
        if address is None:
            assert folder.meeting == here.location, "by the same path: it is no server that agents look at"
            assert not folder.environment
        else:
            assert folder.meeting.startswith(f"https://{address}:")
            assert set(folder.environment) == {IDENTITY_VARIABLE}
        here.write_text("live/word.json", "{}")
    assert not here.exists(), "nothing is left of it"
