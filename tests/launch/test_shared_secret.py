from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.launch.shared_secret import SECRET_FILE_VARIABLE, SECRET_VARIABLE, find_secret, make_secret


@pytest.fixture(autouse=True)
def nothing_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    monkeypatch.delenv(SECRET_FILE_VARIABLE, raising=False)
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path / "state"))


def test_the_leader_makes_a_secret_that_followers_on_its_host_find() -> None:
    secret, file = make_secret(None)
    assert len(secret) >= 32
    assert file is not None
    assert file.stat().st_mode & 0o777 == 0o600
    assert find_secret() == secret
    assert make_secret(None)[0] == secret  # and keeps it


def test_a_file_that_is_named_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").write_text("a-secret-in-a-file-of-its-own\n")
    monkeypatch.setenv(SECRET_VARIABLE, "a-secret-in-the-environment")
    assert find_secret(tmp_path / "own") == "a-secret-in-a-file-of-its-own"
    assert find_secret() == "a-secret-in-the-environment"
    assert make_secret(None) == ("a-secret-in-the-environment", None)
    monkeypatch.delenv(SECRET_VARIABLE)
    monkeypatch.setenv(SECRET_FILE_VARIABLE, str(tmp_path / "own"))
    assert find_secret() == "a-secret-in-a-file-of-its-own"


def test_without_a_secret_it_is_said_where_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cluster-secret: cannot be read"):
        find_secret()
    (tmp_path / "short").write_text("x")
    with pytest.raises(BadInput, match="at least 16"):
        find_secret(tmp_path / "short")
    with pytest.raises(BadInput, match="cannot be written"):
        make_secret(Path("/proc/no/such/secret"))
