"""Every Kafka driver against a broker with locks; one broker, with every way in, is started for all of it."""

from __future__ import annotations

import datetime
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AclOperation, AdminClient, ResourceType

from streamgauge.core.errors import CaseFailed, Refused, StreamgaugeError, Unreachable
from streamgauge.core.java_properties import parse, render
from streamgauge.drivers.contract import ConsumerOptions, Driver, Need, ProducerOptions
from streamgauge.drivers.kafka.rights import lacking
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.systems.certificates import Authority
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_rights import binding
from streamgauge.systems.kafka_security import CLIENT, SECURITY_KINDS, KafkaSecurity
from streamgauge.testing.driver_suite import DriverSuite
from streamgauge.testing.wired import Wired, consume_all, produce_all
from tests.light_java import LIGHT_JAVA
from tests.proof import PROOF

pytestmark = [pytest.mark.broker, pytest.mark.proof]

DRIVERS = ("kafka_confluent", "kafka_java", "kafka_python", "kafka_aio")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    folder = tmp_path_factory.mktemp("locked")
    cluster = KafkaCluster(
        log_dir=folder / "logs",
        data_dir=folder / "data",
        security=SECURITY_KINDS,
        acls=True,
        java_options=LIGHT_JAVA,
    )
    with cluster:
        yield cluster


@pytest.fixture
def topic() -> str:
    return f"locked-{uuid.uuid4().hex[:8]}"


def security_of(locked: KafkaCluster) -> KafkaSecurity:
    assert locked._locks is not None
    return locked._locks.security


def target_of(file: str | Path, driver: str = "kafka_confluent", **settings: Any) -> Target:
    return Target(name="t", driver=driver, settings={"security_file": str(file), "linger_ms": 1, **settings})


@pytest.mark.parametrize("kind", SECURITY_KINDS)
@pytest.mark.parametrize("driver_name", DRIVERS)
class TestEveryDriver:
    """Also by a group; and the client that makes topics gets in by the same way."""

    def test_messages_go_there_and_back(
        self, locked: KafkaCluster, topic: str, driver_name: str, kind: str
    ) -> None:
        driver = open_driver(target_of(locked.client_files[kind], driver_name), {})
        assert driver.check_reachable(15)["brokers"] == 1
        assert driver.prepare_topics(Topics(name=topic, partitions=2), (topic,)) == [topic]
        driver.check_rights((topic,), Need(deletes=True, groups=(f"g-{topic}",)))
        start = driver.end_offsets((topic,), 2)
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        told = produce_all(producer, Outgoing(0, [b"x"] * 200, ordinal_keys(0, 200), None))
        assert sorted(s for a in told for s in a.sequences.tolist()) == list(range(200))
        assert not any(a.errors for a in told)
        places = ((0, 0), (0, 1))
        for group in (None, f"g-{topic}"):
            consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", places, group, start))
            consumer.wait_ready(30)
            assert sorted(consume_all(consumer, 200).ordinals()) == list(range(200))
            consumer.close()
        secret = secret_of(locked)
        assert secret not in str([value for value in producer.settings_in_force().items() if is_open(value)])
        producer.close()
        driver.remove_topics([topic])
        driver.close()


def secret_of(locked: KafkaCluster) -> str:
    told = parse(Path(locked.client_files["scram"]).read_text())["sasl.jaas.config"]
    return told.partition('password="')[2].partition('"')[0]


def is_open(setting: tuple[str, Any]) -> bool:
    """Not struck out by its name wherever it is written down."""
    return not ("password" in setting[0] or "secret" in setting[0])


if PROOF:

    @pytest.mark.parametrize("kind", SECURITY_KINDS)
    @pytest.mark.parametrize("driver_name", DRIVERS)
    class TestTheWholeSuite(DriverSuite):
        @pytest.fixture
        def target(self, locked: KafkaCluster, driver_name: str, kind: str) -> Target:
            return target_of(locked.client_files[kind], driver_name)


@pytest.mark.parametrize("kind", SECURITY_KINDS)
def test_transactions_and_batches_of_librdkafka_go_through(
    locked: KafkaCluster, topic: str, kind: str
) -> None:
    driver = open_driver(target_of(locked.client_files[kind]), {})
    for transactional in (False, True):
        name = f"{topic}-{transactional}"
        wired = Wired(driver, (name,), partitions=1, message=Message(size=64), transactional=transactional)
        with wired:
            wired.send(100, batch=50)
            if transactional:
                wired.producer.commit()
            wired.collect_acks()
            assert len(wired.receive(100).values) == 100


def test_no_secret_is_on_a_command_line(locked: KafkaCluster) -> None:
    secret, told = secret_of(locked), ""
    for pid in locked.processes().values():
        told += " ".join(psutil.Process(pid).cmdline())
    assert "kafka.Kafka" in told
    assert "token_endpoint" in told
    assert secret not in told
    for log in locked.log_dir.iterdir():
        assert secret not in log.read_text(), log


def changed(locked: KafkaCluster, kind: str, folder: Path, **properties: str) -> Path:
    """The client file of a way in, with some lines replaced; None of them: `_` for a dot in a name."""
    told = parse(Path(locked.client_files[kind]).read_text())
    told |= {name.replace("_", "."): value for name, value in properties.items()}
    file = folder / f"{kind}.properties"
    file.write_text(render(told))
    return file


def refusal(file: Path, **settings: Any) -> str:
    """What is said, at once: long before the deadline."""
    driver, begun_s = open_driver(target_of(file, **settings), {}), time.monotonic()
    with pytest.raises(Refused) as refused:
        driver.check_reachable(60)
    assert time.monotonic() - begun_s < 30
    said = str(refused.value)
    assert "\n" not in said
    return said


def test_a_wrong_password_is_refused_at_once(locked: KafkaCluster, tmp_path: Path) -> None:
    login = parse(Path(locked.client_files["scram"]).read_text())["sasl.jaas.config"]
    wrong = login.replace(secret_of(locked), "guess")
    said = refusal(changed(locked, "scram", tmp_path, sasl_jaas_config=wrong))
    assert "does not let us in" in said
    assert "invalid credentials" in said
    assert "guess" not in said


def test_a_wrong_secret_for_a_token_is_refused_at_once(locked: KafkaCluster, tmp_path: Path) -> None:
    login = parse(Path(locked.client_files["oauth"]).read_text())["sasl.jaas.config"]
    wrong = login.replace(secret_of(locked), "guess")
    said = refusal(changed(locked, "oauth", tmp_path, sasl_jaas_config=wrong))
    assert "guess" not in said
    assert "401" in said or "not known here" in said or "invalid_client" in said


def test_an_unknown_authority_is_refused_at_once(locked: KafkaCluster, tmp_path: Path) -> None:
    (tmp_path / "other.pem").write_text(Authority.new("other").certificate_pem)
    other = str(tmp_path / "other.pem")
    for kind in SECURITY_KINDS:
        said = refusal(changed(locked, kind, tmp_path, ssl_truststore_location=other))
        assert "not to be trusted: unable to get local issuer certificate" in said


def test_another_host_than_the_certificates_is_refused_at_once(locked: KafkaCluster) -> None:
    file = Path(locked.client_files["mtls"])
    address = parse(file.read_text())["bootstrap.servers"].replace("127.0.0.1", "localhost")
    assert "not to be trusted: Hostname mismatch" in refusal(file, bootstrap=address)


@pytest.mark.parametrize("trouble", ["expired", "of another authority"])
def test_a_certificate_of_ours_that_is_not_taken_is_refused_at_once(
    locked: KafkaCluster, tmp_path: Path, trouble: str
) -> None:
    authority, ended_ago = security_of(locked).authority, None
    if trouble == "expired":
        ended_ago = datetime.timedelta(days=3)
    else:
        authority = Authority.new("other")
    (tmp_path / "mine.pem").write_text(authority.sign(CLIENT, ended_ago=ended_ago).pem)
    said = refusal(changed(locked, "mtls", tmp_path, ssl_keystore_location=str(tmp_path / "mine.pem")))
    assert "it ends the TLS handshake: " in said


def test_a_client_without_locks_does_not_get_in_and_is_told_why(locked: KafkaCluster) -> None:
    address = parse(Path(locked.client_files["mtls"]).read_text())["bootstrap.servers"]
    driver = open_driver(Target(name="t", driver="kafka_confluent", settings={"bootstrap": address}), {})
    with pytest.raises(Unreachable, match=r"it speaks TLS, and the target"):
        driver.check_reachable(1.5)


def test_an_unsecured_token_opens_nothing(locked: KafkaCluster) -> None:
    told = parse(Path(locked.client_files["oauth"]).read_text())
    errors: list[KafkaError] = []
    admin = AdminClient(
        {
            "bootstrap.servers": told["bootstrap.servers"],
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": told["ssl.truststore.location"],
            "sasl.mechanism": "OAUTHBEARER",
            "enable.sasl.oauthbearer.unsecure.jwt": True,
            "sasl.oauthbearer.config": f"principal={CLIENT}",
            "error_cb": errors.append,
            "log_level": 0,
        }
    )
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=1.5)
    admin.poll(0)
    assert KafkaError._AUTHENTICATION in [error.code() for error in errors]


def deny(locked: KafkaCluster, kind: ResourceType, operation: AclOperation, name: str) -> None:
    admin = AdminClient(security_of(locked).admin_connection(locked._nodes))
    wanted = binding(CLIENT, kind, operation, name, allows=False)
    admin.create_acls([wanted])[wanted].result(30)


@pytest.fixture
def driver(locked: KafkaCluster) -> Iterator[Driver]:
    driver = open_driver(target_of(locked.client_files["scram"]), {})
    yield driver
    driver.close()


def test_a_right_that_is_missing_is_named_before_anything_is_sent(
    locked: KafkaCluster, driver: Driver, topic: str
) -> None:
    driver.prepare_topics(Topics(name=topic), (topic,))
    driver.check_rights((topic,), Need(deletes=True))
    for operation in (AclOperation.WRITE, AclOperation.READ):
        deny(locked, ResourceType.TOPIC, operation, topic)
    until = time.monotonic() + 30
    while True:  # news of rights take a moment
        with pytest.raises(Refused) as refused:
            driver.check_rights((topic,), Need())
        if "Write, Read" in str(refused.value) or time.monotonic() > until:
            break
    assert str(refused.value) == (
        f"topic {topic}: the user of this target has no right to Write, Read; grant it: kafka-acls --add "
        f"--allow-principal User:… --operation Write --operation Read --topic {topic}"
    )
    driver.check_rights((topic,), Need(writes=False, reads=False, deletes=True))
    driver.remove_topics([topic])


def test_topics_that_may_not_be_made_are_named(locked: KafkaCluster, driver: Driver, topic: str) -> None:
    deny(locked, ResourceType.TOPIC, AclOperation.CREATE, topic)
    with pytest.raises(Refused, match=re.escape(str(lacking(f"topic {topic}", "Create")))):
        driver.prepare_topics(Topics(name=topic), (topic,))


def join(driver: Driver, topic: str, group: str) -> None:
    consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", ((0, 0),), group, {}))
    try:
        consumer.wait_ready(20)
    finally:
        consumer.close()


@pytest.mark.parametrize("driver_name", DRIVERS)
def test_a_group_that_may_not_be_joined_ends_the_case_with_every_driver(
    locked: KafkaCluster, driver_name: str, topic: str
) -> None:
    group = f"g-{topic}"
    deny(locked, ResourceType.GROUP, AclOperation.READ, group)
    driver = open_driver(target_of(locked.client_files["scram"], driver_name), {})
    driver.prepare_topics(Topics(name=topic), (topic,))
    with pytest.raises(StreamgaugeError) as ended:
        join(driver, topic, group)
    assert isinstance(ended.value, CaseFailed | Refused), ended.value
    assert "group" in str(ended.value).lower()
    driver.remove_topics([topic])
    deny(locked, ResourceType.GROUP, AclOperation.DESCRIBE, group)
    with pytest.raises(Refused, match=rf"group {group}: .*no right to Read"):
        driver.check_rights((), Need(groups=(group,)))
    driver.close()
