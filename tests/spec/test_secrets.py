from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.spec.secrets import environment_of, fill_in, shown_settings, strike_out
from streamgauge.spec.target import Target

from ..core.properties import untimed


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.setenv("SG_USER", "alice")
    monkeypatch.setenv("SG_PASSWORD", "hunter2")
    monkeypatch.setenv("SG_UNUSED", "nothing")
    return Target(
        name="t",
        driver="d",
        client={"sasl.username": "${SG_USER}@example", "sasl.password": "${SG_PASSWORD}", "linger.ms": 5},
        producer_client={"both": "${SG_USER}/${SG_PASSWORD}"},
        consumer_client={"plain": "$SG_USER {SG_USER} ${}"},
    )


def test_the_environment_of_a_target_is_what_it_refers_to(target: Target) -> None:
    assert environment_of(target) == {"SG_USER": "alice", "SG_PASSWORD": "hunter2"}


def test_what_is_not_set_is_named_with_its_field(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SG_PASSWORD")
    with pytest.raises(
        BadInput, match=r"^target t: client\.sasl\.password: the environment has no SG_PASSWORD"
    ):
        environment_of(target)


def test_references_are_filled_in_and_nothing_else_changes(target: Target) -> None:
    filled = fill_in(target, environment_of(target))
    assert filled.client == {"sasl.username": "alice@example", "sasl.password": "hunter2", "linger.ms": 5}
    assert filled.producer_client == {"both": "alice/hunter2"}
    assert filled.consumer_client == target.consumer_client
    assert target.client["sasl.password"] == "${SG_PASSWORD}"


def test_a_secret_that_looks_like_a_reference_is_not_filled_in_again(target: Target) -> None:
    filled = fill_in(target, {"SG_USER": "${SG_PASSWORD}", "SG_PASSWORD": r"\1"})
    assert filled.client["sasl.username"] == "${SG_PASSWORD}@example"
    assert filled.client["sasl.password"] == r"\1"


def test_secrets_are_struck_out() -> None:
    environment = {"A": "hunter2", "B": "hunter2and3"}
    assert strike_out("login hunter2and3 failed, hunter2 too", environment) == "login *** failed, *** too"
    assert strike_out("nothing to hide", environment) == "nothing to hide"


@given(
    st.lists(st.text("abcXYZ", min_size=3, max_size=6), min_size=1, max_size=3),
    st.lists(st.text("abc XYZ", max_size=6), min_size=1, max_size=5),
)
@untimed
def test_no_secret_is_left_in_any_text(secrets: list[str], words: list[str]) -> None:
    environment = {f"S{number}": secret for number, secret in enumerate(secrets)}
    text = strike_out(" ".join([*words, *secrets, *words]), environment)
    assert not [secret for secret in secrets if secret in text]


def test_references_are_filled_in_in_settings_and_properties_however_deep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SG_PASSWORD", "hunter2")
    target = Target.model_validate(
        {
            "name": "t",
            "driver": "d",
            "settings": {"url": "nats://me:${SG_PASSWORD}@n", "more": {"urls": ["${SG_PASSWORD}", 5]}},
            "system": {"kind": "redis_server", "properties": {"requirepass": "${SG_PASSWORD}", "port": 1}},
        }
    )
    filled = fill_in(target, environment_of(target))
    assert filled.settings == {"url": "nats://me:hunter2@n", "more": {"urls": ["hunter2", 5]}}
    assert filled.system is not None
    assert filled.system.properties == {"requirepass": "hunter2", "port": 1}
    assert "hunter2" not in target.model_dump_json()


def test_settings_in_force_are_shown_without_secrets() -> None:
    settings = {
        "sasl.password": "hunter2",
        "login": "user=me secret=hunter3",
        "properties": {"broker-1": {"x": "a hunter2 b", "ssl.keystore.key": "hunter4", "n": 5}},
        "urls": ["nats://me:hunter5@n"],
    }
    told = shown_settings(settings, {"A": "hunter2"})
    assert "hunter" not in str(told)
    assert told["properties"]["broker-1"]["n"] == 5
    assert told["urls"] == ["nats://me:***@n"]
