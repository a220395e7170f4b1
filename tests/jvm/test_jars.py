from __future__ import annotations

import hashlib
import http.server
import os
import re
import subprocess
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streamgauge.core.fetching import hears_of_fetching
from streamgauge.core.units import format_bytes
from streamgauge.jvm import jars
from streamgauge.jvm.jars import Jar, JarsUnavailable, cached_jars, fetch, read_lock

CONTENT = {f"part-{i}": bytes([i]) * (1000 + i) for i in range(9)}


class Repository(http.server.ThreadingHTTPServer):
    """A tiny Maven repository that can be made to misbehave."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {jar.repository_path: CONTENT[jar.artifact] for jar in lock_of(CONTENT)}
        self.asked: Counter[str] = Counter()
        self.failures_left: Counter[str] = Counter()
        self.truncations_left: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.server.asked[path] += 1
        if self.server.failures_left[path] > 0:
            self.server.failures_left[path] -= 1
            self.send_error(503)
        elif path not in self.server.files:
            self.send_error(404)
        else:
            self._send(path, self.server.files[path])

    def _send(self, path: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.truncations_left[path] > 0:
            self.server.truncations_left[path] -= 1
            content = content[:-100]
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


def lock_of(content: dict[str, bytes]) -> list[Jar]:
    return [
        Jar("org.example", name, "1.0", hashlib.sha256(body).hexdigest(), len(body))
        for name, body in content.items()
    ]


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        monkeypatch.setattr(jars, "read_lock", lambda name: lock_of(CONTENT))
        monkeypatch.setattr(jars, "_BACKOFF_S", 0.01)
        monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("STREAMGAUGE_MAVEN_URL", server.url)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        server.shutdown()
        thread.join(10)


def unfinished_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache").rglob("*") if path.name.startswith(".")]


def test_everything_is_downloaded_once(repository: Repository, tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []
    with hears_of_fetching(lambda words, is_over: seen.append((words, is_over))):
        paths = fetch("any")
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert seen[0] == ("jars: 0 of 9", False), "said before the first of them is there"
    size = format_bytes(sum(map(len, CONTENT.values())))
    assert seen[-1] == (f"jars: 9 of 9, {size} downloaded", True)
    assert [is_over for _, is_over in seen] == [False] * 9 + [True]
    assert fetch("any") == paths
    assert set(repository.asked.values()) == {1}
    assert unfinished_files(tmp_path) == []


def test_the_local_maven_repository_comes_first(repository: Repository, tmp_path: Path) -> None:
    first, second, *_ = lock_of(CONTENT)
    for jar, content in ((first, CONTENT[first.artifact]), (second, b"x" * second.size_bytes)):
        path = tmp_path / "home" / ".m2" / "repository" / jar.repository_path
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    fetch("any")
    assert repository.asked[first.repository_path] == 0
    assert repository.asked[second.repository_path] == 1, "a local file that is another one is not taken"


def test_another_file_of_the_same_size_and_time_is_noticed_and_fetched_again(repository: Repository) -> None:
    replaced = fetch("any")[3]
    before = replaced.stat()
    replaced.write_bytes(b"!" * before.st_size)
    os.utime(replaced, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "org/example/part-3/1.0/part-3-1.0.jar" not in cached_jars(())
    assert fetch("any")[3].read_bytes() == CONTENT["part-3"]
    assert sum(repository.asked.values()) == len(CONTENT) + 1
    assert len(cached_jars(())) == len(CONTENT)


def test_a_cut_short_file_in_the_cache_is_fetched_again(repository: Repository) -> None:
    damaged = fetch("any")[3]
    damaged.write_bytes(b"short")
    assert fetch("any")[3].read_bytes() == CONTENT["part-3"]
    assert sum(repository.asked.values()) == len(CONTENT) + 1


def test_another_file_than_the_locked_one_is_refused(repository: Repository, tmp_path: Path) -> None:
    path = lock_of(CONTENT)[4].repository_path
    repository.files[path] = b"?" * len(repository.files[path])
    with pytest.raises(JarsUnavailable, match=r"part-4.*SHA-256.*the lock says") as error:
        fetch("any")
    assert "\n" not in str(error.value)
    assert repository.asked[path] == 1
    assert not (tmp_path / "cache" / "jars" / path).exists()
    assert unfinished_files(tmp_path) == []


def test_a_passing_failure_and_a_truncated_answer_are_tried_again(repository: Repository) -> None:
    busy, cut, *_ = (jar.repository_path for jar in lock_of(CONTENT))
    repository.failures_left[busy] = 2
    repository.truncations_left[cut] = 1
    assert len(fetch("any")) == len(CONTENT)
    assert repository.asked[busy] == 3
    assert repository.asked[cut] == 2


def test_a_lasting_truncation_is_an_error(repository: Repository, tmp_path: Path) -> None:
    cut = lock_of(CONTENT)[0].repository_path
    repository.truncations_left[cut] = 100
    with pytest.raises(JarsUnavailable, match=r"cannot download part-0-1.0.jar from http"):
        fetch("any")
    assert repository.asked[cut] == 4
    assert unfinished_files(tmp_path) == []


def test_a_missing_file_is_not_asked_for_again(repository: Repository) -> None:
    path = lock_of(CONTENT)[0].repository_path
    del repository.files[path]
    with pytest.raises(JarsUnavailable, match="HTTP 404"):
        fetch("any")
    assert repository.asked[path] == 1


def test_offline_is_one_line_that_says_what_to_do(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_MAVEN_URL", "http://127.0.0.1:1/maven")
    with pytest.raises(JarsUnavailable) as error:
        fetch("any")
    message = str(error.value)
    assert re.match(r"cannot download part-\d-1.0.jar from http://127.0.0.1:1/maven: .*refused", message)
    assert "STREAMGAUGE_MAVEN_URL" in message
    assert "\n" not in message


def test_parallel_fetchers_do_each_other_no_harm(repository: Repository, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(fetch, ["any"] * 4))
    assert all(answer == answers[0] for answer in answers)
    assert [path.read_bytes() for path in answers[0]] == list(CONTENT.values())
    assert unfinished_files(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_named(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "file"))
    with pytest.raises(JarsUnavailable, match="set STREAMGAUGE_CACHE"):
        fetch("any")


@pytest.mark.parametrize("name", ["kafka", "kafka-clients", "compiler"])
def test_the_locks_are_whole(name: str) -> None:
    locked = read_lock(name)
    assert len({(jar.group, jar.artifact) for jar in locked}) == len(locked)
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) and jar.size_bytes > 0 for jar in locked)


def test_clients_come_with_the_jars_that_the_broker_has() -> None:
    assert set(read_lock("kafka-clients")) <= set(read_lock("kafka"))


@pytest.mark.broker
def test_the_kafka_jars_have_exactly_one_logging_provider() -> None:
    providers = []
    for path in fetch("kafka"):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if "org/slf4j/impl/StaticLoggerBinder.class" in names:
            providers.append(path.name)
        assert "META-INF/services/org.slf4j.spi.SLF4JServiceProvider" not in names
    assert providers == ["slf4j-simple-1.7.36.jar"]


@pytest.mark.broker
def test_kafkas_own_tools_run_from_the_locked_jars() -> None:
    from streamgauge.jvm.java import find_java

    command = [str(find_java().executable), "-cp", jars.classpath(fetch("kafka"))]
    for tool, says in (
        ("ProducerPerformance", "usage: kafka-producer-perf-test"),
        ("ConsumerPerformance", "This tool is used to verify the consumer performance"),
        ("EndToEndLatency", "bootstrap-server topic num-records"),
    ):
        ran = subprocess.run(
            [*command, f"org.apache.kafka.tools.{tool}", "--help"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert says in ran.stdout + ran.stderr, tool
