"""A broker that runs only to learn: once, by one of those who want it, and nobody's failure."""

from __future__ import annotations

import fcntl
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.core.errors import SystemFailed
from streamgauge.jvm.class_archive import ClassArchive
from streamgauge.jvm.java import Java
from streamgauge.systems import kafka_training
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_training import train


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("STREAMGAUGE_CLASS_ARCHIVES", raising=False)
    return ClassArchive("kafka", Java(Path("/j/bin/java"), Path("/j"), "25", "PATH"), [], [])


class Pupil:
    """A broker that leaves an archive at its end, as Java does."""

    def __init__(self, archive: ClassArchive, *, breaks: bool = False) -> None:
        self._archive, self._breaks = archive, breaks
        self.times = 0

    def __call__(self, logs: Path) -> Any:
        assert logs.is_dir()
        return self

    def __enter__(self) -> Any:
        self.times += 1
        if self._breaks:
            raise SystemFailed("it does not start")
        return SimpleNamespace(endpoints=lambda: {"bootstrap": "127.0.0.1:1"})

    def __exit__(self, *_: object) -> None:
        self._archive.path.write_bytes(b"archive")


@pytest.fixture(autouse=True)
def primed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(
        kafka_training, "prime_kafka", lambda connection, *_: addresses.extend(connection.values())
    )
    return addresses


def test_it_learns_once(archive: ClassArchive, primed: list[str]) -> None:
    pupil = Pupil(archive)
    for _ in range(3):
        train(archive, pupil)
    assert pupil.times == 1
    assert primed == ["127.0.0.1:1"]


def test_one_that_does_not_start_fails_nobody(archive: ClassArchive) -> None:
    pupil = Pupil(archive, breaks=True)
    train(archive, pupil)
    assert pupil.times == 1
    assert not archive.is_made


def test_while_another_process_is_at_it_we_wait_for_it_but_not_for_ever(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_training, "_OTHERS_DEADLINE_S", 0.3)
    pupil = Pupil(archive)
    assert archive.is_wanted  # and there is a folder for it
    with archive.path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        train(archive, pupil)
    assert pupil.times == 0
    train(archive, pupil)
    assert pupil.times == 1


def test_where_archives_are_switched_off_nobody_learns(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_CLASS_ARCHIVES", "off")
    off = ClassArchive("kafka", Java(Path("/j/bin/java"), Path("/j"), "25", "PATH"), [], [])
    pupil = Pupil(off)
    train(off, pupil)
    assert pupil.times == 0


@pytest.mark.broker
def test_a_broker_that_is_measured_records_nothing(tmp_path: Path) -> None:
    with KafkaCluster(log_dir=tmp_path) as cluster:
        command = Path(f"/proc/{cluster.processes()['broker-1']}/cmdline").read_text()
        if "-XX:AOTCache=" in command:
            assert cluster.settings()["class_archive"] == "used"
        assert "-XX:AOTCacheOutput" not in command
