"""Archives in the cache: whole or not there, and never in the way of what Java is started for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from streamgauge.jvm.class_archive import FIRST_WITH_PROFILES, SWITCH_VARIABLE, ClassArchive
from streamgauge.jvm.java import OLDEST_USABLE, Java, find_java, run_program

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH_VARIABLE, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    jar = tmp_path / "one.jar"
    jar.write_bytes(b"classes")
    return jar


def archive(jar: Path, *flags: str, version: str = "17.0.1") -> ClassArchive:
    return ClassArchive("kind", Java(Path("/j/bin/java"), Path("/j"), version, "PATH"), [jar], flags)


def left_behind(options: list[str]) -> Path:
    """As Java does at its end."""
    makes = ("-XX:ArchiveClassesAtExit=", "-XX:AOTCacheOutput=")
    [path] = [Path(o.partition("=")[2]) for o in options if o.startswith(makes)]
    path.write_bytes(b"archive")
    return path


def test_the_first_makes_it_and_the_next_use_it(jar: Path) -> None:
    first = archive(jar)
    assert first.use() == []
    left_behind(first.use_or_make())
    assert first.is_in_the_making
    first.keep(143)
    assert f"-XX:SharedArchiveFile={first.path}" in archive(jar).use_or_make()
    assert [path.name for path in first.path.parent.iterdir()] == [first.path.name]


def test_since_java_25_it_has_what_was_learnt_too(jar: Path) -> None:
    first = archive(jar, version="25.0.2")
    assert first.has_profiles
    assert first.is_wanted
    left_behind(first.use_or_make())
    first.keep(143)
    assert not first.is_wanted
    assert f"-XX:AOTCache={first.path}" in archive(jar, version="25.0.2").use_or_make()
    assert not archive(jar).has_profiles


@pytest.mark.parametrize("code", [-9, None], ids=["killed", "unknown"])
def test_what_a_killed_java_left_is_not_kept(jar: Path, code: int | None) -> None:
    first = archive(jar)
    unfinished = left_behind(first.use_or_make())
    first.keep(code)
    assert not first.is_made
    assert not unfinished.exists()


def test_what_we_leave_when_we_are_killed_is_not_in_the_cache(jar: Path, own_cache: Path) -> None:
    unfinished = left_behind(archive(jar).use_or_make())
    assert not unfinished.is_relative_to(own_cache)


def test_another_java_jar_or_flag_is_another_archive(jar: Path) -> None:
    paths = {archive(jar).path, archive(jar, "-Xrs").path, archive(jar, version="25").path}
    jar.write_bytes(b"other classes")
    paths.add(archive(jar).path)
    assert len(paths) == 4


def test_old_ones_go(jar: Path) -> None:
    for number in range(6):
        made = archive(jar, str(number))
        left_behind(made.use_or_make())
        made.keep(0)
        os.utime(made.path, (number, number))
    assert len(list(made.path.parent.iterdir())) == 3
    assert made.is_made


def test_those_in_use_stay_however_old_they_are(jar: Path) -> None:
    """Else what every run starts with goes when others are made: of another environment, for example."""
    in_use = archive(jar)
    left_behind(in_use.use_or_make())
    in_use.keep(0)
    for number in range(6):
        os.utime(in_use.path, (0, 0))
        assert in_use.use()
        made = archive(jar, str(number))
        left_behind(made.use_or_make())
        made.keep(0)
    assert in_use.is_made
    assert len(list(made.path.parent.iterdir())) == 3


def test_none_when_switched_off(jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH_VARIABLE, "off")
    assert archive(jar).use_or_make() == []


def test_a_cache_that_cannot_be_written_to_costs_time_and_no_more(
    jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "file"))
    assert archive(jar).use_or_make() == []


@pytest.mark.parametrize("preferred", [OLDEST_USABLE, FIRST_WITH_PROFILES])
def test_java_makes_one_and_says_nothing_of_one_that_does_not_fit(preferred: int) -> None:
    """The archive of `java -version` and its like; then another file in its place."""
    java = find_java(preferred)
    made = ClassArchive("version", java, [], [])

    def run(options: list[str]) -> subprocess.CompletedProcess[str]:
        return run_program([str(java.executable), *options, "-version"], 60.0)

    options = made.use_or_make()
    assert options
    ended = run(options)
    made.keep(ended.returncode)
    assert ended.returncode == 0
    plain = run([]).stderr
    assert run(made.use()).stderr.splitlines()[:2] == plain.splitlines()[:2]
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.unlink(missing_ok=True)
    made.path.write_bytes(b"no archive at all" * 1000)
    spoilt = run(made.use())
    assert spoilt.returncode == 0
    assert spoilt.stderr.splitlines()[:2] == plain.splitlines()[:2]
    assert spoilt.stdout == ""
