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


def authenticate(found: Users, user: str | None, password: str | None, address: str = "127.0.0.1") -> None:
    """With the check that has yet to be made, if there is one."""
    check = found.authenticate(user, password, address)
    if check is not None:
        check()


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
        authenticate(found, user, password, "127.0.0.1")
        authenticate(found, user, password, "127.0.0.1")
    wrong: tuple[tuple[str | None, str | None], ...] = (
        ("alice", "wonderland"),
        ("alice", "t0ken-of-bob"),
        ("alice", None),
        ("alice", ""),
        ("carol", "wonder:land"),
        (None, "wonder:land"),
        (None, None),
        ("*", "wonder:land"),
        ("bob", hash_token("t0ken-of-bob")),
    )
    for name, word in wrong:
        with pytest.raises(NotAuthorized) as refused:
            authenticate(found, name, word, "127.0.0.1")
        assert refused.value.code == 1


def test_a_password_that_was_right_is_not_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = users(tmp_path, f"alice:{hash_password('a')}")
    authenticate(found, "alice", "a", "::1")
    monkeypatch.setattr(authentication, "_scrypt", lambda *_: pytest.fail("hashed again"))
    for _ in range(1000):
        authenticate(found, "alice", "a", "::1")


class Guessing:
    """Guesses at an hour that does not pass by itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s, self.hashed = 0.0, list[str]()
        monkeypatch.setattr(authentication, "_scrypt_holds", self._holds)
        hashes = {"alice": [hash_password("a")], "bob": [hash_password("b"), hash_password("c")]}
        hashes["*"] = [hash_token("t")]
        self.users = Users(hashes, clock=lambda: self.now_s)

    def _holds(self, password: str, hashed: str) -> bool:
        self.hashed.append(hashed)
        return password == "right"

    def guess(self, user: str, address: str, times: int = 1, password: str = "wrong") -> str:
        """What is said to the last one."""
        for _ in range(times):
            with pytest.raises(NotAuthorized) as refused:
                authenticate(self.users, user, password, address)
        return refused.value.message


TOO_MANY = "too many passwords to check just now; try again in a moment"


def test_who_guesses_locks_out_himself_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Guessing(monkeypatch)
    assert here.guess("alice", "10.0.0.1", 200) == TOO_MANY
    assert len(here.hashed) == 20 * 2
    authenticate(here.users, "alice", "right", "10.0.0.2")
    authenticate(here.users, "bob", "right", "10.0.0.3")
    authenticate(here.users, "alice", "t", "10.0.0.1")
    # What was right is not checked again, even for who has no more checks.
    authenticate(here.users, "alice", "right", "10.0.0.1")
    here.now_s = 1.0
    assert here.guess("carol", "10.0.0.1") == "user or password is wrong"


def test_an_ipv6_network_is_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Guessing(monkeypatch)
    told = {here.guess("alice", f"2001:db8::{n}") for n in range(21)}
    assert TOO_MANY in told
    assert here.guess("alice", "2001:db8:0:1::1") == "user or password is wrong"


def test_a_user_is_not_guessed_at_from_many_addresses_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Guessing(monkeypatch)
    told = [here.guess("alice", f"10.0.0.{n}") for n in range(100)]
    assert told.count(TOO_MANY) == 50
    assert here.guess("bob", "10.0.0.1") == "user or password is wrong"


def test_whether_there_is_a_user_cannot_be_told_by_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Guessing(monkeypatch)
    counts = []
    for n, user in enumerate(["alice", "bob", "nobody", "", "*"]):
        before = len(here.hashed)
        here.guess(user, f"10.0.0.{n}")
        counts.append(len(here.hashed) - before)
    assert counts == [2] * 5
    here.hashed.clear()
    # And nobody has the made-up one for a password.
    assert here.guess("nobody", "10.0.1.1", password="right") == "user or password is wrong"


def test_lines_for_the_file(tmp_path: Path) -> None:
    found = users(
        tmp_path,
        user_line("alice", "wonder", is_token=False),
        user_line("*", "0123456789abcdef", is_token=True),
    )
    authenticate(found, "alice", "wonder", "::1")
    authenticate(found, None, "0123456789abcdef", "::1")
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
