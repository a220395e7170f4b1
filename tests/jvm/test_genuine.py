from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from streamgauge.jvm import genuine
from streamgauge.jvm.genuine import is_genuine, note_genuine

CONTENT = b"a jar" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "a.jar"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that was hashed."""
    really, seen = genuine._hash, list[Path]()

    def count(path: Path) -> str:
        seen.append(path)
        return really(path)

    monkeypatch.setattr(genuine, "_hash", count)
    return seen


def test_a_file_is_hashed_once_and_not_again_while_it_stays_as_it_is(jar: Path, hashed: list[Path]) -> None:
    for _ in range(5):
        assert is_genuine(jar, SHA256, len(CONTENT))
    assert hashed == [jar]


def test_one_that_was_hashed_when_it_came_is_not_hashed_at_all(jar: Path, hashed: list[Path]) -> None:
    note_genuine(jar, SHA256)
    assert is_genuine(jar, SHA256, len(CONTENT))
    assert hashed == []


def test_any_change_is_noticed_though_size_and_time_are_the_same(jar: Path, hashed: list[Path]) -> None:
    assert is_genuine(jar, SHA256, len(CONTENT))
    before = jar.stat()
    for change in (_write_over, _put_another_in_its_place):
        change(jar)
        os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert not is_genuine(jar, SHA256, len(CONTENT))
        assert not is_genuine(jar, SHA256, len(CONTENT)), "and not forgotten"


def _write_over(jar: Path) -> None:
    jar.write_bytes(b"!" * len(CONTENT))


def _put_another_in_its_place(jar: Path) -> None:
    other = jar.with_name("other")
    other.write_bytes(b"?" * len(CONTENT))
    os.replace(other, jar)


def test_one_that_was_only_touched_is_genuine_still(jar: Path, hashed: list[Path]) -> None:
    assert is_genuine(jar, SHA256, len(CONTENT))
    os.utime(jar, ns=(1, 1))
    assert is_genuine(jar, SHA256, len(CONTENT))
    assert len(hashed) == 2


@pytest.mark.parametrize("note", [b"", b"\xff\0", f"{'0' * 64} 1 2 3 4\n".encode()])
def test_a_note_that_says_something_else_is_no_proof(jar: Path, hashed: list[Path], note: bytes) -> None:
    jar.with_name("a.jar.checked").write_bytes(note)
    assert is_genuine(jar, SHA256, len(CONTENT))
    assert hashed == [jar]


def test_another_lock_is_another_question(jar: Path) -> None:
    assert is_genuine(jar, SHA256, len(CONTENT))
    assert not is_genuine(jar, "0" * 64, len(CONTENT))
    assert not is_genuine(jar, SHA256, 5)
    assert not is_genuine(jar.with_name("none.jar"), SHA256, len(CONTENT))
