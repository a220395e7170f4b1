from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server import authentication
from streamgauge.gateway.server.authentication import (
    Users,
    hash_password,
    hash_token,
    load_users,
    user_line,
)
from streamgauge.gateway.server.contract import NotAuthorized


def users(tmp_path: Path, *lines: str) -> Users:
    path = tmp_path / "users"
    path.write_text("\n".join(lines))
    return load_users(path)


def test_passwords_and_tokens(tmp_path: Path) -> None:
    found = users(
        tmp_path,
        "# who may come",
        "",
        f"alice:{hash_password('wonder:land')}",
        f"bob:{hash_token('t0ken-of-bob')}",
        f"*:{hash_token('t0ken-of-all')}",
    )
    for user, password in (
        ("alice", "wonder:land"),
        ("bob", "t0ken-of-bob"),
        ("bob", "t0ken-of-all"),
        ("somebody", "t0ken-of-all"),
        (None, "t0ken-of-all"),
    ):
        found.authenticate(user, password, "127.0.0.1")
        found.authenticate(user, password, "127.0.0.1")
    for user, password in (
        ("alice", "wonderland"),
        ("alice", "t0ken-of-bob"),
        ("alice", None),
        ("alice", ""),
        ("carol", "wonder:land"),
        (None, "wonder:land"),
        (None, None),
        ("*", "wonder:land"),
        ("bob", hash_token("t0ken-of-bob")),
    ):
        with pytest.raises(NotAuthorized) as refused:
            found.authenticate(user, password, "127.0.0.1")
        assert refused.value.code == 1


def test_a_password_that_was_right_is_not_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = users(tmp_path, f"alice:{hash_password('a')}")
    found.authenticate("alice", "a", "::1")
    monkeypatch.setattr(authentication, "_scrypt", lambda *_: pytest.fail("hashed again"))
    for _ in range(1000):
        found.authenticate("alice", "a", "::1")


def test_only_so_many_slow_checks_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now, checks = 0.0, 0

    def holds(*_: str) -> bool:
        nonlocal checks
        checks += 1
        return False

    monkeypatch.setattr(authentication, "_scrypt_holds", holds)
    found = Users({"alice": [hash_password("a")], "*": [hash_token("t")]}, clock=lambda: now)
    told = set()
    for attempt in range(200):
        with pytest.raises(NotAuthorized) as refused:
            found.authenticate("alice", f"guess {attempt}", "::1")
        told.add(refused.value.message)
    assert checks == 20
    assert "too many passwords to check just now; try again in a moment" in told
    found.authenticate("alice", "t", "::1")
    now = 0.5
    for attempt in range(200):
        with pytest.raises(NotAuthorized):
            found.authenticate("alice", f"other {attempt}", "::1")
    assert checks == 30


def test_lines_for_the_file(tmp_path: Path) -> None:
    found = users(
        tmp_path,
        user_line("alice", "wonder", is_token=False),
        user_line("*", "0123456789abcdef", is_token=True),
    )
    found.authenticate("alice", "wonder", "::1")
    found.authenticate(None, "0123456789abcdef", "::1")
    for name, secret, is_token in (
        ("", "x", False),
        ("a b", "x", False),
        ("#a", "x", False),
        ("*", "x", False),
        ("alice", "", False),
        ("alice", "short", True),
    ):
        with pytest.raises(BadInput):
            user_line(name, secret, is_token=is_token)


def test_hashes_differ_each_time() -> None:
    assert hash_password("a") != hash_password("a")
    assert "secret" not in hash_password("secret") + hash_token("secret")


@pytest.mark.parametrize(
    "line",
    [
        "alice",
        "alice:plain-password",
        ":$sha256$" + "0" * 64,
        "alice:$sha256$xyz",
        "alice:$scrypt$!!!$!!!",
        "alice:$scrypt$YQ==$YQ==",
        "al ice:$sha256$" + "0" * 64,
        "alice:$md5$1234",
    ],
)
def test_bad_lines_are_told_by_number_and_not_shown(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadInput, match=r"users:2: is not name:hash; .*--hash-password") as refused:
        users(tmp_path, f"ok:{hash_token('x')}", line)
    assert "plain-password" not in str(refused.value)


def test_files_that_let_nobody_in(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="names no user"):
        users(tmp_path, "# nobody yet")
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load_users(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not UTF-8"):
        load_users(tmp_path / "binary")
