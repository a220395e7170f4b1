from __future__ import annotations

import pytest

from streamgauge.core.environment import FOLLOWER_VARIABLE
from streamgauge.core.errors import BadInput
from streamgauge.launch.same_version import VERSION_VARIABLE, check_same_version, own_version
from streamgauge.launch.standalone import joined_follower


def test_a_follower_of_another_version_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLLOWER_VARIABLE, "left")
    monkeypatch.setenv(VERSION_VARIABLE, "0.1.9")
    with pytest.raises(
        BadInput, match=r"^follower left has streamgauge 0\.1\.9 and the launcher 0\.2\.0: install"
    ):
        check_same_version("0.2.0")


def test_one_that_names_itself_and_no_version_is_older_than_versions_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As 0.2.0 was released."""
    monkeypatch.setenv(FOLLOWER_VARIABLE, "left")
    monkeypatch.delenv(VERSION_VARIABLE, raising=False)
    with pytest.raises(BadInput, match=r"^follower left has streamgauge of old and the launcher 0\.3\.0: "):
        check_same_version("0.3.0")


def test_one_of_the_same_version_and_a_host_that_is_no_follower_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(FOLLOWER_VARIABLE, "left")
    monkeypatch.setenv(VERSION_VARIABLE, own_version())
    check_same_version(own_version())
    monkeypatch.delenv(FOLLOWER_VARIABLE)
    monkeypatch.delenv(VERSION_VARIABLE)
    check_same_version("anything")


@pytest.mark.parametrize(
    ("name", "version"), [("left/0.2.0/20261116-10.0.0.2-4711", "0.2.0"), ("left/20261116-10.0.0.2-4711", "")]
)
def test_the_leader_learns_name_and_version(name: str, version: str) -> None:
    joined = joined_follower({"id": name, "host": "10.0.0.2", "cores": 2})
    assert (joined.name, joined.version) == ("left", version)
