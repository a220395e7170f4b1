"""The secret that leader, followers and commands share: Spark lets nobody in without it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.folders import state_folder

SECRET_VARIABLE = "STREAMGAUGE_SECRET"
SECRET_FILE_VARIABLE = "STREAMGAUGE_SECRET_FILE"
_SHORTEST = 16


def make_secret(file: Path | None) -> tuple[str, Path | None]:
    """The leader: take the secret that there is, else make one; with the file that holds it."""
    if file is None and (given := os.environ.get(SECRET_VARIABLE)):
        return _checked(given, SECRET_VARIABLE), None
    path = _chosen(file)
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Only for us, from the first byte on.
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
                stream.write(secrets.token_hex(32) + "\n")
        except OSError as error:
            raise BadInput(f"--secret-file {path}: cannot be written: {error}") from error
    return _read(path), path


def find_secret(file: Path | None = None) -> str:
    """Followers and commands: the secret of their leader."""
    if file is None and (given := os.environ.get(SECRET_VARIABLE)):
        return _checked(given, SECRET_VARIABLE)
    return _read(_chosen(file))


def secret_to_come(file: Path | None = None) -> Path | None:
    """The file that the leader's secret will be in; None: it is there, or was given otherwise."""
    if file is None and os.environ.get(SECRET_VARIABLE):
        return None
    path = _chosen(file)
    # A leader makes it, then writes it.
    return None if path.exists() and path.stat().st_size else path


def _chosen(file: Path | None) -> Path:
    if file is None and (named := os.environ.get(SECRET_FILE_VARIABLE)):
        file = Path(named)
    return file or state_folder() / "cluster-secret"


def _read(path: Path) -> str:
    try:
        return _checked(path.read_text().strip(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"--secret-file {path}: cannot be read: {error}; it is the leader's: copy it here, "
            f"or set {SECRET_VARIABLE}"
        ) from error


def _checked(secret: str, place: str) -> str:
    if len(secret) < _SHORTEST:
        raise BadInput(f"{place}: the shared secret has {len(secret)} characters; at least {_SHORTEST}")
    return secret
