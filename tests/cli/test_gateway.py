"""`streamgauge gateway` as a user meets it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.core.errors import BadInput
from streamgauge.gateway.server.authentication import load_users

from ..gateway.server.plain_session import PlainSession, ask
from .streamgauge_command import command, in_process, streamgauge

pytestmark = pytest.mark.process

NOWHERE = "127.0.0.1:1"
CONFIG = f"""adapter_set: S
connections:
  Q: {{bootstrap.servers: "{NOWHERE}", map.t.to: i, field.v: "#{{VALUE}}"}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIG)
    return path


@contextmanager
def serving(config: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running gateway and its address; it has to be ended by the test."""
    arguments = command("gateway", "--config", config, "--port", "0", "--no-demo", *flags)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def monitoring(process: subprocess.Popen[str]) -> str:
    """Its address, which is said to whoever started the gateway."""
    assert process.stderr is not None
    said = next(line for line in iter(process.stderr.readline, "") if line.startswith("monitored at "))
    return said.split()[2]


def test_check_says_that_it_is_right_and_starts_nothing(config: Path) -> None:
    result = CliRunner().invoke(app, ["gateway", "--config", str(config), "--check"])
    assert (result.exit_code, result.stdout) == (0, f"{config}: is right: adapter set S, 1 connection (Q)\n")


def test_check_names_what_is_unsafe(config: Path) -> None:
    unsafe = ("--host", "0.0.0.0", "--allowed-origin", "*")
    result = in_process("gateway", "--config", config, "--check", *unsafe)
    assert result.returncode == 4
    assert result.stdout == f"{config}: is right: adapter set S, 1 connection (Q)\n"
    for kind, setting in (
        ("no_users", "users"),
        ("no_tls", "tls_certificate"),
        ("any_origin", "allowed_origins"),
    ):
        assert f"unsafe ({kind}): {setting} = " in result.stderr


def test_who_listens_to_strangers_is_warned(config: Path) -> None:
    with serving(config, "--host", "0.0.0.0") as (process, _):
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(2)]
    assert [line.split("unsafe (")[1].split(")")[0] for line in said] == [
        "no_users",
        "no_tls",
    ]


def test_check_tells_file_line_and_parameter(tmp_path: Path) -> None:
    path = tmp_path / "adapters.xml"
    path.write_text(
        '<adapters_conf id="S">\n<data_provider>\n<param name="bootstrap.servers">x:1</param>\n'
        '<param name="map.t.to">i</param>\n<param name="field.v">#{VALUE.x}</param>\n'
        "</data_provider>\n</adapters_conf>"
    )
    result = in_process("gateway", "--config", path, "--check")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(
        f"streamgauge: {path}:5: connection DEFAULT: field.v: VALUE.x: nothing can follow"
    )
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ([], "--config is required"),
        (["--config", "none.xml"], "none.xml: cannot be read: No such file"),
        (["--max-sessions", "many"], "gateway: limits.sessions:"),
        (["--max-request-rate", "-1"], "gateway: limits.requests_per_s:"),
        (["--max-request-bytes", "10"], "gateway: limits.request_bytes:"),
        (["--default-diff-order", "xdelta"], "gateway: default_diff_order.0: must be 'jsonpatch'"),
        (["--jsonpatch-min-length", "short"], "gateway: jsonpatch_min_length"),
        (["--tls-key", "key.pem"], "tls_certificate and tls_key belong together"),
        (["--users", "none.txt"], "none.txt: cannot be read"),
        (["--lightstreamer-conf", "none.xml"], "none.xml: cannot be read"),
        (["--hash-token", "*"], "a token needs 16 characters"),
        (["--hash-password", "a b"], "is no user's name"),
    ],
)
def test_bad_flags(config: Path, flags: list[str], says: str) -> None:
    given = flags if not flags or flags[0] == "--config" else ["--config", str(config), *flags]
    result = CliRunner().invoke(app, ["gateway", "--check", *given], input="secret\n")
    assert isinstance(result.exception, BadInput)
    assert says in str(result.exception)


def test_flags_go_before_the_file_and_the_file_before_another_servers(config: Path, tmp_path: Path) -> None:
    from streamgauge.gateway.server import gateway_process

    conf = tmp_path / "lightstreamer_conf.xml"
    conf.write_text(
        "<lightstreamer_conf><default_diff_order>jsonpatch</default_diff_order>"
        "<jsonpatch_min_length>500</jsonpatch_min_length></lightstreamer_conf>"
    )
    seen = []
    run, gateway_process.run_gateway = gateway_process.run_gateway, lambda c, **_: seen.append(c.server)
    try:
        flags = [
            "--jsonpatch-min-length",
            "7",
            "--max-sessions",
            "1k",
            "--allowed-origin",
            "https://a.example",
        ]
        arguments = ["gateway", "--config", str(config), "--lightstreamer-conf", str(conf), *flags]
        assert CliRunner().invoke(app, arguments).exit_code == 0
    finally:
        gateway_process.run_gateway = run
    [server] = seen
    assert (server.default_diff_order, server.jsonpatch_min_length) == (("jsonpatch",), 7)
    assert (server.limits.sessions, server.allowed_origins) == (1000, ("https://a.example",))


def test_lines_for_the_users_file(tmp_path: Path) -> None:
    password = CliRunner().invoke(app, ["gateway", "--hash-password", "alice"], input="wonder\n")
    token = CliRunner().invoke(app, ["gateway", "--hash-token", "*"], input="0123456789abcdef\n")
    assert (password.exit_code, token.exit_code) == (0, 0)
    (tmp_path / "users").write_text(password.stdout + token.stdout)
    users = load_users(tmp_path / "users")
    check = users.authenticate("alice", "wonder", "::1")
    assert check is not None
    check()
    assert users.authenticate(None, "0123456789abcdef", "::1") is None


def test_a_port_that_is_taken(config: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = streamgauge("gateway", "--config", config, "--port", str(port), "--no-demo")
    assert result.returncode == 2
    assert f"streamgauge: 127.0.0.1:{port}: cannot be listened on: Address already in use" in result.stderr
    assert f", process {os.getpid()} (" in result.stderr
    assert "end it, or choose another port" in result.stderr


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_even_while_it_waits_for_kafka(config: Path, sent: signal.Signals) -> None:
    with serving(config) as (process, address):
        assert ask(monitoring(process), "GET", "/healthz") == (200, "ok\n")
        assert ask(address, "GET", "/healthz")[0] == 404
        assert ask(address, "GET", "/")[0] == 404
        with PlainSession(address, "S") as session:
            assert "REQOK" in session.subscribe("i", "v")
            assert process.stderr is not None
            warned = process.stderr.readline() + process.stderr.readline()
            process.send_signal(sent)
            assert process.wait(60) == 0
            session.wait_for_end()
        assert "LOOP,0" in session.said
        assert "Traceback" not in process.stderr.read()
    assert "WARNING connection Q: Kafka" in warned


def test_several_processes_on_one_port(config: Path) -> None:
    with serving(config, "--processes", "2") as (process, _):
        children = psutil.Process(process.pid).children()
        assert len(children) == 2
        told = monitoring(process)
        seen = {ask(told, "GET", "/metrics")[1].split('process="')[1].split('"')[0] for _ in range(40)}
        assert seen == {"0", "1"}
        process.terminate()
        assert process.wait(60) == 0
        _, alive = psutil.wait_procs(children, timeout=60)
        assert alive == []


def test_of_several_processes_one_that_dies_is_started_again(config: Path) -> None:
    with serving(config, "--processes", "2") as (process, _):
        first, second = psutil.Process(process.pid).children()
        os.kill(first.pid, signal.SIGKILL)
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        said = next(line for line in lines if "process 0 of the gateway" in line)
        assert f"(pid {first.pid}) has ended: killed by SIGKILL; it is started again" in said
        until_s = time.monotonic() + 20
        while len(children := psutil.Process(process.pid).children()) < 2 and time.monotonic() < until_s:
            time.sleep(0.05)
        assert second in children
        assert len(children) == 2
        process.terminate()
        assert process.wait(60) == 0
        _, alive = psutil.wait_procs(children, timeout=60)
        assert alive == []
