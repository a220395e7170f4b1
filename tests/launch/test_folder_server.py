import contextlib
import os
import socket
import ssl
import threading
import time

import pytest

from streamgauge.core import served_files
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_identity import agent_context, make_identity
from streamgauge.core.served_files import IDENTITY_VARIABLE, FolderClient
from streamgauge.launch import folder_server
from streamgauge.launch.folder_server import served


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The same folder, as the launcher and as an agent sees it."""
    with served(tmp_path / "run", "127.0.0.1", "a-run") as server:
        (tmp_path / "run").mkdir()
        monkeypatch.setenv(IDENTITY_VARIABLE, server.identity)
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


def test_whoever_has_another_runs_identity_is_refused(folder, monkeypatch):
    ours, theirs = folder
    ours.write_text("plan.json", "{}")
    monkeypatch.setenv(IDENTITY_VARIABLE, make_identity())

    with pytest.raises(OSError, match="does not know this host"):
        RunDir(theirs.location).has("plan.json")
    with pytest.raises(BadInput, match="does not know this host"):
        RunDir(theirs.location).write_text("plan.json", "changed")
    assert ours.read_text("plan.json") == "{}"


def test_whoever_has_none_is_told_where_it_comes_from(folder, monkeypatch):
    monkeypatch.delenv(IDENTITY_VARIABLE)

    with pytest.raises(OSError, match=IDENTITY_VARIABLE):
        RunDir(folder[1].location).has("plan.json")


def test_agents_do_not_talk_to_another_launcher(tmp_path, folder, monkeypatch):
    """Whoever took the launcher's place would be given events."""
    monkeypatch.setenv(IDENTITY_VARIABLE, make_identity())
    with served(tmp_path, "127.0.0.1", "a-run") as imposter, pytest.raises(OSError, match="does not know"):
        RunDir(imposter.location).has("plan.json")


def address_of(theirs):
    host, _, port = theirs.location.removeprefix("https://").removesuffix("/a-run").partition(":")
    return host, int(port)


def handshake(theirs, identity=None):
    """A TLS connection, with a certificate or without."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return (agent_context(identity) if identity else context).wrap_socket(
        socket.create_connection(address_of(theirs), timeout=10)
    )


def test_no_byte_of_a_strangers_request_is_read(folder):
    """300 MiB sent by who had no key were once taken into memory before they were refused."""
    _, theirs = folder
    sent = 0
    with contextlib.suppress(OSError), handshake(theirs) as stranger:
        stranger.sendall(b"PUT /a-run/plan.json HTTP/1.1\r\nContent-Length: 314572800\r\n\r\n")
        for _ in range(300):
            sent += stranger.send(bytes(1 << 20))

    assert sent < 64 << 20  # what sockets hold; with a reader behind them all 300 MiB went
    assert not theirs.has("plan.json")


def test_silent_connections_hold_a_bounded_number_of_threads(folder):
    """200 of them once held 200 threads for ever, and agents still come in beside them."""
    ours, theirs = folder
    ours.write_text("live/word.json", "{}")
    before, most = (
        threading.active_count(),
        folder_server._MOST_STRANGERS + folder_server._CONNECTIONS_AN_AGENT,
    )
    silent = [socket.create_connection(address_of(theirs), timeout=10) for _ in range(200)]
    try:
        assert theirs.has("live/word.json")
        until(lambda: threading.active_count() - before <= most + 1)
    finally:
        for connection in silent:
            connection.close()


def all_ask(theirs, count):
    """What each of so many agents was answered, or why not; each is new, and all come at once."""
    together = threading.Barrier(count)
    answers: list[bool | str] = []

    def ask():
        agent = RunDir(theirs.location)
        together.wait(30)
        try:
            answers.append(agent.has("live/word.json"))
        except OSError as error:
            answers.append(str(error))

    agents = [threading.Thread(target=ask) for _ in range(count)]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join(60)
    return answers


@pytest.fixture
def far_away(monkeypatch):
    """Every handshake takes a while, as over a network."""
    carried_out = folder_server._Server.finish_request

    def finish_request(server, request, client_address):
        time.sleep(0.2)
        carried_out(server, request, client_address)

    monkeypatch.setattr(folder_server._Server, "finish_request", finish_request)


@pytest.mark.usefixtures("far_away")
def test_hundreds_of_agents_may_come_at_once(folder):
    """Of more than 64 the oldest were taken for strangers, and did not come again: their run broke."""
    ours, theirs = folder
    ours.write_text("live/word.json", "{}")

    assert all_ask(theirs, 200) == [True] * 200


@pytest.mark.usefixtures("far_away")
def test_the_more_agents_there_are_the_more_may_come_before_any_is_turned_away(tmp_path, monkeypatch):
    turned_away = []
    monkeypatch.setattr(folder_server._Server, "_turn_away", lambda _, stranger: turned_away.append(stranger))
    (tmp_path / "live").mkdir()
    (tmp_path / "live/word.json").write_text("{}")
    with served(tmp_path, "127.0.0.1", "a-run", agents=200) as server:
        monkeypatch.setenv(IDENTITY_VARIABLE, server.identity)
        assert all_ask(RunDir(server.location), 200) == [True] * 200
    assert not turned_away


def test_who_is_not_let_in_for_long_gives_up_and_says_so(folder, monkeypatch):
    monkeypatch.setattr(served_files, "_DEADLINE_S", 0.3)
    monkeypatch.setattr(folder_server._Server, "finish_request", lambda *_: None)

    with pytest.raises(OSError, match="does not answer"):
        folder[1].has("live/word.json")


def test_an_answer_that_is_lost_is_asked_for_again(folder, monkeypatch):
    """What had been renamed was not found again, and an event file was said not to be written."""
    ours, theirs = folder
    carried_out, lost = folder_server._Handler._answer, []

    def lose_each_once(handler, status, content):
        if handler.command not in lost:
            lost.append(handler.command)
            handler.close_connection = True
        else:
            carried_out(handler, status, content)

    monkeypatch.setattr(folder_server._Handler, "_answer", lose_each_once)
    theirs.write_text("events/e.parquet", "rows")
    assert theirs.read_text("events/e.parquet") == "rows"
    theirs.remove("events")

    assert set(lost) == {"PUT", "MOVE", "GET", "KIND", "DELETE"}
    assert not ours.has("events")


def test_what_never_was_there_cannot_be_moved(folder):
    with pytest.raises(FileNotFoundError):
        folder[1]._files.move("/a-run/nothing", "/a-run/something")


def test_a_stranger_who_dawdles_is_turned_away(folder, monkeypatch):
    monkeypatch.setattr(folder_server, "_STRANGER_DEADLINE_S", 0.3)
    with socket.create_connection(address_of(folder[1]), timeout=10) as stranger:
        stranger.sendall(b"\x16\x03\x01")  # the beginning of a handshake
        assert stranger.recv(100) == b""


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"PUT /a-run/x HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", b"413"),
        (b"MOVE /a-run/x HTTP/1.1\r\nContent-Length: 70000\r\n\r\n", b"413"),
        (b"PUT /a-run/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"PUT /a-run/x HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", b"400"),
        (b"PUT /a-run/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
    ],
)
def test_size_first(folder, request_head, status):
    """An agent's request too is judged before its content is read; what is refused ends the connection."""
    with handshake(folder[1], os.environ[IDENTITY_VARIABLE]) as agent:
        agent.sendall(request_head)
        answer = agent.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 " + status)


def test_a_file_is_there_as_a_whole_or_not_at_all(folder):
    ours, theirs = folder
    with handshake(theirs, os.environ[IDENTITY_VARIABLE]) as agent:
        agent.sendall(b"PUT /a-run/events/e.parquet HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + bytes(400))
    until(lambda: not list(ours.local().rglob("*.part")))

    assert not ours.has("events/e.parquet")


def until(is_so):
    deadline_s = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_nothing_outside_of_the_folder(folder, tmp_path):
    _, theirs = folder
    (tmp_path / "secret").write_text("s")

    for path in ("/../secret", "/a-run/../secret", "/a-run/%2e%2e/secret", "/secret"):
        with pytest.raises(OSError, match="403"):
            FolderClient(theirs.location).ask("GET", path)


def test_a_launcher_that_is_gone_is_said(tmp_path, monkeypatch):
    with served(tmp_path, "127.0.0.1", "a-run") as server:
        monkeypatch.setenv(IDENTITY_VARIABLE, server.identity)
        location = server.location

    with pytest.raises(BadInput, match="does not answer"):
        RunDir(location).write_text("a", "b")


def test_many_requests_over_one_connection(folder):
    """Answers that waited for Nagle's algorithm would take 40 ms each."""
    ours, theirs = folder
    ours.write_text("live/word.json", "{}")
    took_s = []
    for _ in range(200):
        begun = time.monotonic()
        assert theirs.has("live/word.json")
        took_s.append(time.monotonic() - begun)

    # The quickest: a machine with other things to do makes some slower, but none quicker.
    assert min(took_s) < 0.03


def test_a_method_that_there_is_not_does_no_harm(folder):
    _, theirs = folder
    with handshake(theirs, os.environ[IDENTITY_VARIABLE]) as agent:
        agent.sendall(b"PATCH /a-run/plan.json HTTP/1.1\r\n\r\n")
        assert agent.recv(100).startswith(b"HTTP/1.1 501")

    assert not theirs.has("plan.json")
