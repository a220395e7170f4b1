from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.transports.env_file import LIBRDKAFKA, EnvFile, read_env_file

SEED = """\
### transport-bench's own settings ###
application.orderTransport=kafka
transportLoadTest.warmUpIterations=10000
transportLoadTest.iterations=100000
transportLoadTest.maxRpsLimit=10000
transportLoadTest.sendThreadsCount=0
kafka.bootstrapServers=localhost:9092
kafka.topic.name=load-test-topic
kafka.topic.partitions=1
kafka.topic.replicationFactor=1
kafka.topic.retentionMs=600000
kafka.producers.acks=all
kafka.producers.lingerMs=0
kafka.producers.batchSize=16384
kafka.producers.bufferMemory=33554432
kafka.consumers.idleStrategy=NO_IDLE
kafka.consumers.fetchMinBytes=1
kafka.consumers.fetchMaxWaitMs=0
kafka.consumers.maxPollIntervalMs=10000
kafka.consumers.maxPollRecords=1
kafka.consumers.enableAutoCommit=false
kafka.consumers.autoOffsetReset=latest
kafka.consumers.groupId=load-generator
kafka.consumers.sessionTimeoutMs=120000
kafka.consumers.heartbeatIntervalMs=40000
aeron.mediaDriver.required=false
aeron.mediaDriver.embedded=true
aeron.mediaDriver.threadingMode=DEDICATED
aeron.mediaDriver.sender.idleStrategy=NoOp
aeron.mediaDriver.receiver.idleStrategy=NoOp
aeron.mediaDriver.conductor.idleStrategy=BusySpin
aeron.mediaDriver.dirName=/dev/shm/aeron-load-test
aeron.mediaDriver.deleteDirOnShutdown=true
aeron.channel=aeron:ipc
"""


def read(tmp_path: Path, text: str) -> EnvFile:
    path = tmp_path / "test.env"
    path.write_text(text)
    return read_env_file(path)


def test_the_seeds_own_file_is_understood(tmp_path: Path) -> None:
    found = read(tmp_path, SEED)
    assert found.complaints == {}
    assert (found.transport, found.rps, found.iterations, found.warm_up) == (
        "kafka",
        "10000",
        "100000",
        "10000",
    )
    assert found.bootstrap == "localhost:9092"
    assert found.topics == {
        "name": "load-test-topic",
        "partitions": 1,
        "replicas": 1,
        "config": {"retention.ms": "600000"},
    }
    assert found.kafka_settings == {
        "linger_ms": 0,
        "batch_size": 16384,
        "fetch_min_bytes": 1,
        "fetch_max_wait_ms": 0,
    }
    assert found.kafka_client("consumer", {})["max.poll.records"] == 1
    assert "max.poll.records" not in found.kafka_client("consumer", LIBRDKAFKA)
    assert found.kafka_client("producer", {}) == {"buffer.memory": 33554432}
    assert found.kafka_client("producer", LIBRDKAFKA) == {"queue.buffering.max.kbytes": 32768}
    assert found.aeron_properties["aeron.sender.idle.strategy"].endswith("NoOpIdleStrategy")
    assert found.aeron_directory is None, "an embedded driver is ours"


def test_a_driver_that_is_not_embedded_is_somebody_elses(tmp_path: Path) -> None:
    text = SEED.replace("embedded=true", "embedded=false")
    assert read(tmp_path, text).aeron_directory == "/dev/shm/aeron-load-test"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "transportLoadTest.iteration=5",
            r"test.env:2: .*unknown key; did you mean transportLoadTest.iterations",
        ),
        ("nonsense", r"test.env:2: 'nonsense' is not key=value"),
        ("=5", r"test.env:2: '=5' is not key=value"),
        ("transportLoadTest.iterations=many", r"iterations: 'many' is not a whole number"),
        ("transportLoadTest.iterations=-1", r"iterations: -1 is below 0"),
        ("transportLoadTest.sendThreadsCount=4", r"4 threads: there is one producer"),
        (
            "spring.port=1",
            r"unknown key; known are aeron\.\*, application\.\*, kafka\.\*, transportLoadTest\.\*",
        ),
    ],
)
def test_what_is_wrong_with_the_test_itself_is_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read(tmp_path, f"# first\n{line}\n")


@pytest.mark.parametrize(
    ("line", "transport", "said"),
    [
        ("kafka.producers.linger=5", "kafka", "unknown key; did you mean kafka.producers.lingerMs?"),
        ("kafka.consumers.enableAutoCommit=perhaps", "kafka", "'perhaps' is neither true nor false"),
        ("kafka.producers.acks=2", "kafka", "'2'; allowed: 0, 1, all"),
        ("aeron.mediaDriver.threadingMode=MANY", "aeron-udp", "'MANY'; allowed: DEDICATED"),
        ("aeron.mediaDriver.sender.idleStrategy=nap", "aeron-ipc", "'nap'; allowed: NoOp"),
        ("aeron.channel=tcp://x", "aeron-ipc", "allowed: aeron:ipc"),
    ],
)
def test_what_is_wrong_with_a_transport_concerns_that_one_only(
    tmp_path: Path, line: str, transport: str, said: str
) -> None:
    found = read(tmp_path, line)
    other = "kafka" if transport != "kafka" else "aeron-ipc"
    assert said in (found.complaint_of(transport) or "")
    assert "test.env:1: " in (found.complaint_of(transport) or "")
    assert found.complaint_of(other) is None


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--env-file .*no.env: cannot be read"):
        read_env_file(tmp_path / "no.env")


def test_numbers_as_people_write_them_and_keys_without_what_they_are_of(tmp_path: Path) -> None:
    found = read(tmp_path, "warmUpIterations=10K\niterations=100K\nmaxRpsLimit=25k\ntransport=kafka\n")
    assert (found.warm_up, found.iterations, found.rps) == ("10000", "100000", "25000")
    assert found.transport == "kafka"


def test_the_sample_file_is_read_as_it_is() -> None:
    found = read_env_file(Path(__file__).parents[3] / "docs" / "examples" / "transport-bench.env")
    assert (found.iterations, found.acks, found.complaints) == ("100000", "all", {})


def test_a_file_goes_over_what_held_before(tmp_path: Path) -> None:
    before = read(tmp_path, "kafka.producers.lingerMs=0\nkafka.consumers.fetchMaxWaitMs=0\n")
    (tmp_path / "more.env").write_text("kafka.producers.lingerMs=5\n")
    both = read_env_file(tmp_path / "more.env", before)
    assert both.kafka_settings == {"linger_ms": 5, "fetch_max_wait_ms": 0}
