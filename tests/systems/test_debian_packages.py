"""With an apt of our own making: what the real one does is seen where servers are started from it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.systems import debian_packages, rabbitmq_server
from streamgauge.systems.debian_packages import Locked, Program, find_program, locked
from streamgauge.systems.rabbitmq_server import RabbitMqServer
from streamgauge.systems.redis_server import RedisServer

# Knows the package only after an update of its lists, and notes how it was called.
APT_GET = """#!/bin/sh
echo "$*" >> "$NOTES"
case "$*" in
  *--config-file*update) exit 0 ;;
  *--config-file*"install tool") printf 'Inst libc6 (2)\\nInst libtool (1)\\nInst tool (1)\\n' ;;
  *--config-file*download*libc6*) exit 9 ;;
  *--config-file*"download libtool tool=1:2-3") test -z "$GONE" || exit 100
    touch libtool_1_all.deb; printf '%s' "$BYTES" > tool_1%3a2-3_amd64.deb ;;
  *--config-file*"download libtool tool") touch libtool_1_all.deb tool_9_amd64.deb ;;
  *) echo 'E: Unable to locate package tool' >&2; exit 100 ;;
esac
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/bin" "$3/usr/lib/x86_64-linux-gnu"
name=$(basename "$2" | cut -d_ -f1)
echo '#!/bin/sh' > "$3/usr/bin/$name"
chmod +x "$3/usr/bin/$name"
"""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where apt's calls are noted, on a machine that has apt and no such program."""
    for name, script in (("apt-get", APT_GET), ("dpkg-deb", DPKG_DEB)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BYTES", "as locked")
    tool = Locked("1:2-3", hashlib.sha256(b"as locked").hexdigest())
    monkeypatch.setattr(debian_packages, "locked", lambda platform_name: {"tool": tool})
    return tmp_path / "notes"


def test_a_package_and_what_it_needs_are_fetched_once_after_an_update_of_our_own(notes: Path) -> None:
    program = find_program(("no-such-tool",), "tool", "usr/bin/tool")
    assert program.root is not None
    assert sorted(path.name for path in (program.root / "usr/bin").iterdir()) == ["libtool", "tool"]
    environment = program.environment()
    assert environment is not None
    assert str(program.root / "usr/lib/x86_64-linux-gnu") in environment["LD_LIBRARY_PATH"].split(":")
    calls = notes.read_text()
    assert find_program(("no-such-tool",), "tool", "usr/bin/tool") == program
    assert notes.read_text() == calls
    assert list(program.root.parent.iterdir()) == [program.root], "nothing half-done stays"


def taken(program: Program) -> dict[str, str]:
    """By package, how it was taken."""
    assert program.root is not None
    lines = (program.root / "packages.txt").read_text().splitlines()
    return {line.split()[0]: line.split(maxsplit=3)[3] for line in lines}


@pytest.mark.usefixtures("notes")
def test_a_locked_version_is_asked_for_and_the_folder_says_so() -> None:
    program = find_program(("no-such-tool",), "tool", "usr/bin/tool")
    assert taken(program) == {"libtool": "as apt has it", "tool": "as locked"}


@pytest.mark.usefixtures("notes")
def test_other_bytes_under_a_locked_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYTES", "somebody else's")
    with pytest.raises(SystemFailed, match=r"tool_1%3a2-3_amd64\.deb: has SHA-256 \w+, not \w+ as locked"):
        find_program(("no-such-tool",), "tool", "usr/bin/tool")


@pytest.mark.usefixtures("notes")
def test_a_version_that_debian_replaced_is_taken_as_apt_has_it_and_named_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GONE", "yes")
    program = find_program(("no-such-tool",), "tool", "usr/bin/tool")
    assert taken(program) == {"libtool": "as apt has it", "tool": "as apt has it"}


def test_what_is_locked_is_whole() -> None:
    lock = locked("debian-12-x86_64")
    assert {"redis-server", "rabbitmq-server", "erlang-base"} <= set(lock)
    for name, entry in lock.items():
        assert len(bytes.fromhex(entry.sha256)) == 32, name
        assert entry.version[0].isdigit(), name
    assert locked("beos-5-m68k") == {}


def test_a_program_on_the_path_is_taken_as_it_is(notes: Path) -> None:
    program = find_program(("no-such-tool", "dpkg-deb"), "tool", "usr/bin/tool")
    assert program.executable == notes.parent / "bin" / "dpkg-deb"
    assert program.environment() is None
    assert not notes.exists()


@pytest.mark.usefixtures("notes")
def test_a_package_that_nobody_has_is_said_with_apts_words() -> None:
    with pytest.raises(SystemFailed, match=r"package other cannot be fetched: .*sudo apt-get install other"):
        find_program(("no-such-tool",), "other", "usr/bin/other")


def test_without_apt_the_command_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path))
    monkeypatch.setattr(debian_packages, "can_unpack", lambda: False)
    with pytest.raises(NotInstalled, match=r"tool is not installed.*sudo apt-get install tool"):
        find_program(("no-such-tool",), "tool", "usr/bin/tool")


@pytest.mark.parametrize(
    ("system", "package"), [(RedisServer, "redis-server"), (RabbitMqServer, "rabbitmq-server")]
)
def test_a_machine_without_a_server_and_without_apt_is_told_what_to_do(
    system: type[RedisServer | RabbitMqServer],
    package: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path))
    monkeypatch.setattr(debian_packages, "_SYSTEM_FOLDERS", ())
    monkeypatch.setattr(rabbitmq_server, "NAMES", ("rabbitmq-server",))
    with pytest.raises(NotInstalled, match=rf"not installed, .* sudo apt-get install {package}"):
        system(log_dir=tmp_path).start()
