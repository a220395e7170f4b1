from __future__ import annotations

import ctypes
from pathlib import Path
from typing import get_args

import confluent_kafka
import pytest
from pydantic import ValidationError

from streamgauge.drivers.kafka.settings import ROWS, KafkaSettings, Library, in_force, promised, translate

WANTED = {"linger_ms": 5, "acks": "all", "compression": "none", "fetch_max_wait_ms": 100, "max_in_flight": 2}


def librdkafka_defaults() -> dict[str, str]:
    """From the very library that the wheel brings along."""
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    found = sorted(folder.glob("librdkafka*"))
    if not found:
        pytest.skip("this build of confluent-kafka has librdkafka elsewhere")
    library = ctypes.CDLL(str(found[0]))
    defaults: dict[str, str] = {}
    for kind in ("conf", "topic_conf"):
        new, dump = getattr(library, f"rd_kafka_{kind}_new"), getattr(library, f"rd_kafka_{kind}_dump")
        new.restype, dump.restype = ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
        dump.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
        count = ctypes.c_size_t()
        words = dump(new(), ctypes.byref(count))
        defaults |= {words[i].decode(): words[i + 1].decode() for i in range(0, count.value, 2)}
    return defaults


def test_librdkafkas_defaults_are_those_of_the_table() -> None:
    real = librdkafka_defaults()
    for row in ROWS:
        form = row.natives["librdkafka"]
        if row.name == "compression":  # a topic's codec is "inherit", which is "none" of the client's
            continue
        name = next(name for name in (form.name, *form.aliases) if name in real)
        assert form.from_native(real[name]) == form.from_native(form.default), row.name


def test_every_library_has_the_setting_or_a_word_on_what_it_does_instead() -> None:
    for row in ROWS:
        assert set(row.natives) | set(row.missing) == set(get_args(Library)), row.name
        assert not set(row.natives) & set(row.missing), row.name


def test_each_library_gets_its_own_names_and_words() -> None:
    assert translate("librdkafka", "producer", WANTED, {}) == {
        "linger.ms": 5,
        "acks": "all",
        "compression.type": "none",
        "max.in.flight.requests.per.connection": 2,
    }
    assert translate("aiokafka", "producer", WANTED, {}) == {
        "linger_ms": 5,
        "acks": -1,
        "compression_type": None,
    }
    assert translate("librdkafka", "consumer", WANTED, {}) == {"fetch.wait.max.ms": 100}
    assert translate("kafka-clients", "consumer", WANTED, {}) == {"fetch.max.wait.ms": 100}


@pytest.mark.parametrize("name", ["linger.ms", "queue.buffering.max.ms"])
def test_the_librarys_own_name_or_its_other_name_wins(name: str) -> None:
    translated = translate("librdkafka", "producer", {"linger_ms": 5}, {name: 1, "other": "x"})
    assert translated == {name: 1, "other": "x"}
    told = in_force("librdkafka", "producer", {"linger_ms": 5}, translated)
    assert {setting.name: setting.value for setting in told}["linger_ms"] == 1


def test_what_was_asked_for_in_vain_is_said() -> None:
    told = {setting.name: setting for setting in in_force("aiokafka", "producer", WANTED, {"acks": 1})}
    assert told["max_in_flight"].native is None
    assert told["max_in_flight"].note == "always one request a broker at a time; 2 was asked for"
    assert told["send_buffer"].note == "left to the operating system"


def test_an_idempotent_librdkafka_has_five_in_flight() -> None:
    told = in_force("librdkafka", "producer", {}, {"enable.idempotence": True})
    assert {setting.name: setting.value for setting in told}["max_in_flight"] == 5
    told = in_force("librdkafka", "producer", {}, {})
    assert {setting.name: setting.value for setting in told}["max_in_flight"] == 1_000_000


def test_a_transactional_librdkafka_is_idempotent() -> None:
    told = in_force("librdkafka", "producer", {}, {"transactional.id": "t"})

    assert promised(told) == {"enable.idempotence": True}
    assert {setting.name: setting.value for setting in told}["max_in_flight"] == 5


def test_settings_take_units_and_refuse_nonsense() -> None:
    assert KafkaSettings(batch_size="64KiB").batch_size == 65536  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        KafkaSettings(max_in_flight=0)
