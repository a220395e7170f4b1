import http.client
import time

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import KEY_VARIABLE, FolderClient
from streamgauge.launch.folder_server import served


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The same folder, as the launcher and as an agent sees it."""
    with served(tmp_path / "run", "127.0.0.1", "a-run") as server:
        (tmp_path / "run").mkdir()
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        yield RunDir(str(tmp_path / "run")), RunDir(server.location)


def test_what_an_agent_writes_is_in_the_folder_and_comes_back(folder):
    ours, theirs = folder
    theirs.write_json("events/manifests/001-producer-0.json", {"agent": "producer-0", "text": "größer"})

    assert ours.read_json("events/manifests/001-producer-0.json")["text"] == "größer"
    assert theirs.read_json("events/manifests/001-producer-0.json")["agent"] == "producer-0"
    assert list(theirs.list_files("events")) == ["events/manifests/001-producer-0.json"]
    assert list(ours.list_files("")) == ["events/manifests/001-producer-0.json"]


def test_it_has_the_name_of_the_run(folder):
    assert folder[1].id == "a-run"


def test_there_or_not(folder):
    ours, theirs = folder
    ours.write_text("live/word.json", "{}")

    assert theirs.has("live/word.json")
    assert theirs.has("live")
    assert not theirs.has("live/other.json")
    assert theirs.exists()
    theirs.remove("live")
    assert not ours.has("live")


def test_a_large_file_in_one_piece(folder):
    ours, theirs = folder
    content = bytes(range(256)) * 40_000
    theirs.write_bytes("events/sends/case=001/producer-0-00000.parquet", content)

    assert ours.local("events/sends/case=001/producer-0-00000.parquet").read_bytes() == content


def test_whoever_has_no_key_is_refused(folder, monkeypatch):
    ours, theirs = folder
    ours.write_text("plan.json", "{}")
    monkeypatch.setenv(KEY_VARIABLE, "wrong")

    with pytest.raises(OSError, match="403"):
        RunDir(theirs.location).has("plan.json")
    with pytest.raises(BadInput, match="403"):
        RunDir(theirs.location).write_text("plan.json", "changed")
    assert ours.read_text("plan.json") == "{}"


def test_nothing_outside_of_the_folder(folder, tmp_path):
    _, theirs = folder
    (tmp_path / "secret").write_text("s")

    for path in ("/../secret", "/a-run/../secret", "/a-run/%2e%2e/secret", "/secret"):
        with pytest.raises(OSError, match="403"):
            FolderClient(theirs.location).ask("GET", path)


def test_a_launcher_that_is_gone_is_said(tmp_path):
    with served(tmp_path, "127.0.0.1", "a-run") as server:
        location = server.location

    with pytest.raises(BadInput, match="does not answer"):
        RunDir(location).write_text("a", "b")


def test_many_requests_over_one_connection(folder):
    """Answers that waited for Nagle's algorithm would take 40 ms each."""
    ours, theirs = folder
    ours.write_text("live/word.json", "{}")
    begun = time.monotonic()
    for _ in range(200):
        assert theirs.has("live/word.json")

    assert time.monotonic() - begun < 4


def test_a_request_that_is_no_http_does_no_harm(folder):
    _, theirs = folder
    host, _, port = theirs.location.removeprefix("http://").removesuffix("/a-run").partition(":")
    broken = http.client.HTTPConnection(host, int(port), timeout=5)
    broken.request("PATCH", "/plan.json")
    assert broken.getresponse().status == 501
    broken.close()

    assert not theirs.has("plan.json")
