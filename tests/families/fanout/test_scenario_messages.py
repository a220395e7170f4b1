from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from streamgauge.drivers.swarm import MessageKind
from streamgauge.families.fanout.scenario_messages import NUMBERS, TEXTS, ScenarioMessages, keys_of

WALL_NS = 1_700_000_000_123_456_789
STAMP = r"2023-11-14 22:13:20\.\d{9}"


def test_base_has_time_producer_and_random_text_and_no_key() -> None:
    message = ScenarioMessages("base", 1024, 1).make(1, WALL_NS)
    assert (message.key, message.key_bytes) == (-1, None)
    assert re.fullmatch(rf"{STAMP}-pid-1-[A-Za-z0-9]{{1024}}", message.value.decode())


def test_keyed_has_a_key_of_forty() -> None:
    messages = ScenarioMessages("keyed", 100, 2)
    keys = Counter(messages.make(0, WALL_NS + n).key_bytes for n in range(4000))
    assert len(keys) == 40
    assert min(keys.values()) > 50
    assert all(messages.keys[n].encode() in keys for n in range(40))


def test_json_is_an_object() -> None:
    message = ScenarioMessages("json", 50, 3).make(7, WALL_NS)
    content = json.loads(message.value)
    assert (content["pid"], len(content["text"])) == ("pid-7", 50)
    assert re.fullmatch(STAMP, content["timestamp"])


def test_an_update_of_a_person_changes_time_one_text_and_one_number() -> None:
    messages = ScenarioMessages("complex", 1024, 4)
    before: dict[int, dict[str, object]] = {}
    changed: Counter[str] = Counter()
    for n in range(3000):
        message = messages.make(n % 10, WALL_NS + n)
        person = json.loads(message.value)
        assert list(person) == ["id", *TEXTS, *NUMBERS, "hobbies", "timestamp"]
        assert message.key_bytes == person["id"].encode()
        assert all(len(person[text]) == 256 for text in TEXTS)
        assert len(set(person["hobbies"])) == 3
        if (old := before.get(message.key)) is not None:
            different = [name for name in person if person[name] != old[name]]
            assert sorted(Counter(name in NUMBERS for name in different).items()) == [(False, 2), (True, 1)]
            assert "timestamp" in different
            changed.update(different)
        before[message.key] = person
    assert set(changed) == {*TEXTS, *NUMBERS, "timestamp"}, "every text and number has its turn"


@pytest.mark.parametrize("kind", ["base", "keyed", "json", "complex"])
def test_the_same_seed_gives_the_same_messages(kind: MessageKind) -> None:
    made = [ScenarioMessages(kind, 64, 9).make(0, WALL_NS).value for _ in range(2)]
    assert made[0] == made[1]


def test_numbers_are_such_that_a_patch_may_carry_them() -> None:
    """Whole numbers of 16 digits and more are sent whole by the gateway."""
    messages = ScenarioMessages("complex", 16, 5)
    for n in range(500):
        person = json.loads(messages.make(0, WALL_NS + n).value)
        assert all(0 <= person[number] < 2**31 for number in NUMBERS)


def test_keys_are_forty_different_names() -> None:
    assert keys_of("base") == ()
    for kind in ("keyed", "json", "complex"):
        assert len(set(keys_of(kind))) == 40
