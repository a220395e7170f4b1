from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.jvm.maven_settings import CENTRAL, local_repository, repository_url

NAMESPACE = 'xmlns="http://maven.apache.org/SETTINGS/1.2.0"'


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("STREAMGAUGE_MAVEN_URL", raising=False)
    return tmp_path


def write_settings(home: Path, body: str, namespace: str = NAMESPACE) -> None:
    (home / ".m2").mkdir()
    (home / ".m2" / "settings.xml").write_text(f"<settings {namespace}>{body}</settings>")


def mirror(of: str, url: str = "https://mirror.example/m2/") -> str:
    return f"<mirrors><mirror><mirrorOf>{of}</mirrorOf><url>{url}</url></mirror></mirrors>"


def test_without_settings_it_is_maven_central(home: Path) -> None:
    assert repository_url() == CENTRAL
    assert local_repository() == home / ".m2" / "repository"


@pytest.mark.parametrize("of", ["central", "*", "external:*", "other, central", "*,!internal"])
@pytest.mark.parametrize("namespace", ["", NAMESPACE])
def test_a_mirror_of_central_is_used(home: Path, of: str, namespace: str) -> None:
    write_settings(home, mirror(of), namespace)
    assert repository_url() == "https://mirror.example/m2"


@pytest.mark.parametrize("of", ["other", "*,!central", "external:http:*"])
def test_other_mirrors_are_not(home: Path, of: str) -> None:
    write_settings(home, mirror(of))
    assert repository_url() == CENTRAL


def test_the_variable_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_settings(home, mirror("*"))
    monkeypatch.setenv("STREAMGAUGE_MAVEN_URL", "https://mine.example/m2/")
    assert repository_url() == "https://mine.example/m2"


def test_values_may_name_home_and_variables(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_HOST", "mirror.example")
    write_settings(
        home,
        mirror("central", "https://${env.MIRROR_HOST}/m2")
        + "<localRepository>${user.home}/jars</localRepository>",
    )
    assert repository_url() == "https://mirror.example/m2"
    assert local_repository() == home / "jars"


def test_a_broken_file_is_as_good_as_none(home: Path) -> None:
    (home / ".m2").mkdir()
    (home / ".m2" / "settings.xml").write_text("<settings>")
    assert repository_url() == CENTRAL
