"""A workload from a page: what is right is taken, what would harm is refused before it does."""

from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.serve.workload_text import MOST_BYTES, workload_in

RIGHT = """
kind: e2e
name: fine
targets: [{name: k, driver: simulated}]
load: {messages: 100, rate: 10}
"""
LAUGHS = "a: &a [x, x]\n" + "\n".join(
    f"{after}: &{after} [*{before}, *{before}, *{before}, *{before}]"
    for before, after in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True)
)


def test_a_right_one_is_read() -> None:
    assert workload_in(RIGHT).name == "fine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "aliases are not taken here"),
        ("<<: *a", "aliases are not taken here"),
        ("[" * 5000, "nested too deeply"),
        ("a:\n" + "".join("  " * n + f"- b{n}:\n" for n in range(1, 60)), "nested too deeply"),
        ("a: " + "x" * MOST_BYTES, "longer than"),
        ("- x\n" * 5000, "more than"),
        ("!!python/object/apply:os.system ['touch /tmp/owned']", "not valid YAML"),
        ("!!python/name:os.system", "not valid YAML"),
        ("a: [", "not valid YAML"),
        ("day: 2026-13-45", "not valid YAML"),
        ("just words", "must be a mapping"),
        ("", "must be a mapping"),
        ("\x00", "not valid YAML"),
        (RIGHT.replace("[{name: k, driver: simulated}]", "[/etc/passwd]"), "files are not read here"),
        (RIGHT + "  message: {size: {lines_of: /etc/passwd}}\n", "not valid YAML"),
        (RIGHT.replace("kind: e2e", "kind: e2e\nrm: -rf"), "unknown field"),
        (RIGHT.replace("name: fine", "name: ../../etc"), "name"),
        (RIGHT.replace("messages: 100", "messages: none at all"), "messages"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        workload_in(text)


def _with_target(target: str) -> str:
    return RIGHT.replace("{name: k, driver: simulated}", f"{{name: k, {target}}}")


def _with_load(load: str) -> str:
    return RIGHT.replace("rate: 10}", f"rate: 10, {load}}}")


SWEPT = RIGHT.replace("kind: e2e", "kind: sweep")
IN_SETTINGS, IN_SYSTEM = "targets.0.settings", "targets.0.system"
REACHING = {
    "load.message.size.lines_of": _with_load("message: {size: {lines_of: /etc/passwd}}"),
    "sweep.message.size.0.lines_of": SWEPT + "sweep: {message.size: [{lines_of: /etc/passwd}]}",
    "sweep.message.size.lines_of": SWEPT + "sweep: {message.size.lines_of: [/etc/passwd]}",
    "cases.0.message.size.lines_of": SWEPT + "cases: [{message.size: {lines_of: /etc/passwd}}]",
    f"{IN_SETTINGS}.security_file": _with_target(
        "driver: kafka_confluent, settings: {security_file: /etc/passwd}"
    ),
    f"{IN_SETTINGS}.java_options": _with_target(
        "driver: kafka_java, settings: {java_options: ['-XX:OnError=touch /tmp/owned']}"
    ),
    f"{IN_SETTINGS}.directory": _with_target("driver: aeron, settings: {directory: /dev/shm/other}"),
    f"{IN_SETTINGS}.ca": _with_target("driver: push_websocket, settings: {ca: /etc/passwd}"),
    f"{IN_SYSTEM}.java_options": _with_target(
        "driver: kafka_confluent, system: {java_options: ['-agentpath:/tmp/mine.so']}"
    ),
    f"{IN_SYSTEM}.executable": _with_target(
        "driver: aeron, system: {kind: aeron_media_driver, executable: /usr/bin/reboot}"
    ),
    f"{IN_SYSTEM}.properties.log.dirs": _with_target(
        "driver: kafka_confluent, system: {properties: {log.dirs: here}}"
    ),
    f"{IN_SYSTEM}.properties.maxmemory": _with_target(
        r'driver: redis_streams, system: {kind: redis_server, properties: {maxmemory: "1\nloadmodule x"}}'
    ),
    **{
        f"targets.0.{part}.{name}": _with_target(f"driver: kafka_confluent, {part}: {{{name}: {value}}}")
        for part, name, value in (
            ("client", "ssl.ca.location", "/etc/passwd"),
            ("client", "plugin.library.paths", "mine"),
            ("client", "sasl.kerberos.kinit.cmd", "reboot"),
            ("client", "sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required"),
            ("producer_client", "interceptor.classes", "mine.Interceptor"),
            ("consumer_client", "client.rack", "/etc/passwd"),
        )
    },
}


@pytest.mark.parametrize("field", REACHING)
def test_no_file_program_or_java_option_is_taken_from_a_page(field: str) -> None:
    with pytest.raises(BadInput) as refused:
        workload_in(REACHING[field])
    assert str(refused.value).startswith(f"workload: {field}: ")
    assert "not taken from a page" in str(refused.value)


def test_what_does_not_reach_out_is_taken_as_ever() -> None:
    harmless = _with_target(
        "driver: kafka_confluent, client: {client.id: mine, sasl.password: '${KAFKA_PASSWORD}'}, "
        "producer_client: {linger.ms: 5, compression.level: '3'}, "
        "system: {brokers: 1, properties: {num.network.threads: 3, group.initial.rebalance.delay.ms: 0}}"
    ).replace("rate: 10}", "rate: 10, message: {size: 100, headers: {file: a/b, client: c}}}")
    assert workload_in(harmless).targets[0].client["client.id"] == "mine"
    assert workload_in(SWEPT + "sweep: {message.size: [100, 1KiB]}").kind == "sweep"


def test_settings_that_the_driver_does_not_know_are_said_at_once() -> None:
    with pytest.raises(BadInput, match="there is no driver"):
        workload_in(_with_target("driver: nonsense"))
    with pytest.raises(BadInput, match="settings: rm: unknown field"):
        workload_in(_with_target("driver: kafka_confluent, settings: {rm: 1}"))
