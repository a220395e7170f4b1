"""Who may open a session: a file of users with hashed passwords, and of tokens.

One line each: a name, a colon, a hash.
  alice:$scrypt$<salt>$<hash>   a user and her password
  *:$sha256$<hash>              a token: whoever sends it as the password may come, under any name or none
A hash of a password is slow on purpose. So checks are made in a thread, what was right once is remembered
(as a keyed digest, never in the clear), and only so many are made in a second: for each address and for each
user, so that whoever guesses locks himself out and nobody else.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server.allowance import Allowances
from streamgauge.gateway.server.budget import network_of
from streamgauge.gateway.server.contract import NotAuthorized, SlowCheck
from streamgauge.gateway.server.settings import Limits

ANYBODY = "*"
_NAME = re.compile(r"[^\s:#][^\s:]*")
# About 10 ms and 4 MiB a check.
_SCRYPT_N, _SCRYPT_R, _SCRYPT_P = 2**12, 8, 1
_SALT_BYTES = 16
_REMEMBERED = 100_000
_LEAST_TOKEN = 16
_WRONG = "user or password is wrong"


class Users:
    """The authenticator: names and hashes."""

    def __init__(
        self,
        hashes: Mapping[str, list[str]],
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        limits = limits or Limits()
        self._tokens = {h for of_name in hashes.values() for h in of_name if h.startswith("$sha256$")}
        self._of_name = {name: list(found) for name, found in hashes.items()}
        self._of_address = Allowances(limits.password_checks_per_address_per_s, clock)
        self._of_user = Allowances(limits.password_checks_per_user_per_s, clock)
        self._digest_key = secrets.token_bytes(32)
        self._right: set[bytes] = set()
        self._nobodys = hash_password(secrets.token_hex())
        """Checked for who is not known, so that it takes as long."""
        self._checks = max((len(_slow(found)) for found in self._of_name.values()), default=0)

    def authenticate(self, user: str | None, password: str | None, address: str) -> SlowCheck | None:
        """Raises NotAuthorized. Does not tell whether it was the name or the password, nor by its time."""
        if password is None:
            raise NotAuthorized("user and password, or a token, are required")
        name = user or ""
        digest = self._digest(name, password)
        if digest in self._right or self._token_holds(name, password):
            return None
        if not self._checks:
            raise NotAuthorized(_WRONG)
        # A user's allowance is larger than an address's: one stranger cannot lock anybody out.
        if not (self._of_address.spend(network_of(address)) and self._of_user.spend(name)):
            raise NotAuthorized("too many passwords to check just now; try again in a moment")
        return lambda: self._check(name, password, digest)

    def _check(self, name: str, password: str, digest: bytes) -> None:
        """In a thread: the same number of hashes whoever asks."""
        known = _slow(self._of_name.get(name, ()))
        made_up = [self._nobodys] * (self._checks - len(known))
        held = [_scrypt_holds(password, each) for each in (*known, *made_up)]
        if not any(held[: len(known)]):
            raise NotAuthorized(_WRONG)
        if len(self._right) >= _REMEMBERED:
            self._right.clear()
        self._right.add(digest)

    def _token_holds(self, name: str, password: str) -> bool:
        given = hash_token(password)
        allowed = [*self._of_name.get(ANYBODY, ()), *self._of_name.get(name, ())]
        return given in self._tokens and any(hmac.compare_digest(given, known) for known in allowed)

    def _digest(self, user: str, password: str) -> bytes:
        return hmac.digest(self._digest_key, f"{user}\0{password}".encode(), "sha256")


def load_users(path: Path, limits: Limits | None = None) -> Users:
    """Raises BadInput with the line that is wrong; never shows what stands in it."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text") from None
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, hashed = line.strip().partition(":")
        if not _NAME.fullmatch(name) or not _is_hash(hashed):
            raise BadInput(
                f"{path}:{number}: is not name:hash; "
                "make a line with: streamgauge gateway --hash-password NAME"
            )
        found.setdefault(name, []).append(hashed)
    if not found:
        raise BadInput(f"{path}: names no user and no token: nobody could come in")
    return Users(found, limits)


def user_line(name: str, secret: str, *, is_token: bool) -> str:
    """A line for the file."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is no user's name: it must not be empty or hold blanks, colons or a leading #"
        )
    if name == ANYBODY and not is_token:
        raise BadInput("'*' stands for anybody, which is for tokens only; name a user")
    least = _LEAST_TOKEN if is_token else 1
    if len(secret) < least:
        raise BadInput("a token needs 16 characters or more" if is_token else "a password cannot be empty")
    return f"{name}:{hash_token(secret) if is_token else hash_password(secret)}"


def hash_password(password: str) -> str:
    salt = secrets.token_bytes(_SALT_BYTES)
    return f"$scrypt${_base64(salt)}${_base64(_scrypt(password, salt))}"


def hash_token(token: str) -> str:
    """Tokens are long and random, so a quick hash will do."""
    return f"$sha256${hashlib.sha256(token.encode()).hexdigest()}"


def _slow(hashes: Iterable[str]) -> list[str]:
    return [each for each in hashes if each.startswith("$scrypt$")]


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P)


def _scrypt_holds(password: str, hashed: str) -> bool:
    salt, known = map(_bytes, hashed.split("$")[2:])
    return hmac.compare_digest(_scrypt(password, salt), known)


def _is_hash(text: str) -> bool:
    parts = text.split("$")
    if len(parts) == 3 and parts[:2] == ["", "sha256"]:
        return re.fullmatch(r"[0-9a-f]{64}", parts[2]) is not None
    if len(parts) != 4 or parts[:2] != ["", "scrypt"]:
        return False
    try:
        return len(_bytes(parts[2])) > 0 and len(_bytes(parts[3])) == 64
    except (binascii.Error, ValueError):
        return False


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
