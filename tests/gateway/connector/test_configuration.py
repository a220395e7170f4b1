from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration import (
    GatewayConfiguration,
    load_configuration,
    parameter_names,
)
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.parameters import OLD_NAMES, present_name

MINIMAL = {
    "bootstrap.servers": "localhost:9092",
    "map.LTest.to": "ltest",
    "field.value": "#{VALUE}",
}


def xml(parameters: dict[str, str], server: dict[str, str] | None = None) -> str:
    """The first parameter is in line 5."""

    def params(given: dict[str, str]) -> str:
        return "\n".join(f'<param name="{name}">{value}</param>' for name, value in given.items())

    return (
        '<?xml version="1.0"?>\n<adapters_conf id="KafkaConnector">\n'
        f'<metadata_provider>{params(server or {})}</metadata_provider>\n<data_provider name="Q">\n'
        f"{params(parameters)}\n</data_provider>\n</adapters_conf>\n"
    )


def load(tmp_path: Path, content: str, name: str = "adapters.xml") -> GatewayConfiguration:
    path = tmp_path / name
    path.write_text(content)
    return load_configuration(path)


def connection(tmp_path: Path, **parameters: str) -> ConnectionSettings:
    given = {name.replace("__", "."): value for name, value in parameters.items()}
    return load(tmp_path, xml({**MINIMAL, **given})).connections["Q"]


def refusal(tmp_path: Path, **parameters: str) -> str:
    with pytest.raises(BadInput) as refused:
        connection(tmp_path, **parameters)
    return str(refused.value).replace(str(tmp_path) + "/", "")


def test_what_is_not_given_has_the_connectors_defaults(tmp_path: Path) -> None:
    found = connection(tmp_path)
    assert found.enable is True
    assert found.group_id is None
    assert (found.consume_from, found.max_poll_records) == ("LATEST", 500)
    assert (found.session_timeout_ms, found.max_poll_interval_ms) == (45_000, 30_000)
    assert (found.num_threads, found.order_strategy) == (1, "ORDER_BY_PARTITION")
    assert (found.key.type, found.value.type) == ("STRING", "STRING")
    assert (found.value.pairs_separator, found.value.key_value_separator) == (",", "=")
    assert found.error_strategy == "IGNORE_AND_CONTINUE"
    assert not any((found.topics_are_patterns, found.skip_failed, found.non_scalars))
    assert not any((found.evaluate_as_command, found.auto_command))
    assert not any((found.encryption.enable, found.authentication.enable, found.key.schema_registry))
    assert found.registry.provider == "CONFLUENT"


ALL: dict[str, tuple[str, Any]] = {
    "enable": ("false", False),
    "bootstrap.servers": ("a:1, [::1]:2", "a:1,[::1]:2"),
    "group.id": ("g", "g"),
    "encryption.enable": ("true", True),
    "encryption.protocol": ("TLSv1.2", "TLSv1.2"),
    "encryption.enabled.protocols": ("TLSv1.2,TLSv1.3", ("TLSv1.2", "TLSv1.3")),
    "encryption.cipher.suites": ("A, B", ("A", "B")),
    "encryption.truststore.path": ("trust.jks", "trust.jks"),
    "encryption.truststore.password": ("p", "p"),
    "encryption.truststore.type": ("PKCS12", "PKCS12"),
    "encryption.hostname.verification.enable": ("true", True),
    "encryption.keystore.enable": ("true", True),
    "encryption.keystore.path": ("key.jks", "key.jks"),
    "encryption.keystore.password": ("p", "p"),
    "encryption.keystore.type": ("PEM", "PEM"),
    "encryption.keystore.key.password": ("k", "k"),
    "authentication.enable": ("true", True),
    "authentication.mechanism": ("SCRAM-SHA-512", "SCRAM-SHA-512"),
    "authentication.username": ("u", "u"),
    "authentication.password": ("p", "p"),
    "authentication.gssapi.kerberos.service.name": ("kafka", "kafka"),
    "authentication.gssapi.key.tab.enable": ("true", True),
    "authentication.gssapi.key.tab.path": ("k.keytab", "k.keytab"),
    "authentication.gssapi.store.key.enable": ("true", True),
    "authentication.gssapi.principal": ("me@X", "me@X"),
    "authentication.gssapi.ticket.cache.enable": ("true", True),
    "schema.registry.provider": ("CONFLUENT", "CONFLUENT"),
    "schema.registry.url": ("https://r:8081", "https://r:8081"),
    "schema.registry.confluent.basic.authentication.enable": ("true", True),
    "schema.registry.confluent.basic.authentication.username": ("u", "u"),
    "schema.registry.confluent.basic.authentication.password": ("p", "p"),
    "record.consume.from": ("EARLIEST", "EARLIEST"),
    "record.consume.unwatched.enable": ("false", False),
    "record.consume.with.max.poll.records": ("10", 10),
    "record.consume.with.session.timeout.ms": ("6000", 6000),
    "record.consume.with.max.poll.interval.ms": ("7000", 7000),
    "record.consume.with.num.threads": ("-1", -1),
    "record.consume.with.order.strategy": ("UNORDERED", "UNORDERED"),
    "record.key.evaluator.type": ("AVRO", "AVRO"),
    "record.key.evaluator.schema.path": ("k.avsc", "k.avsc"),
    "record.key.evaluator.schema.registry.enable": ("false", False),
    "record.key.evaluator.protobuf.message.type": ("M", "M"),
    "record.key.evaluator.kvp.pairs.separator": (";", ";"),
    "record.key.evaluator.kvp.key-value.separator": ("@", "@"),
    "record.value.evaluator.type": ("JSON", "JSON"),
    "record.value.evaluator.schema.path": ("v.json", "v.json"),
    "record.value.evaluator.schema.registry.enable": ("false", False),
    "record.value.evaluator.protobuf.message.type": ("M", "M"),
    "record.value.evaluator.kvp.pairs.separator": ("|", "|"),
    "record.value.evaluator.kvp.key-value.separator": (":", ":"),
    "record.extraction.error.strategy": ("FORCE_UNSUBSCRIPTION", "FORCE_UNSUBSCRIPTION"),
    "map.regex.enable": ("true", True),
    "fields.skip.failed.mapping.enable": ("true", True),
    "fields.map.non.scalar.values.enable": ("true", True),
    "fields.evaluate.as.command.enable": ("false", False),
    "fields.auto.command.mode.enable": ("false", False),
}


def value_at(settings: Any, parameter: str, prefix: str = "") -> Any:
    """What the model holds for a parameter."""
    for name, info in type(settings).model_fields.items():
        written = prefix + (info.alias or name)
        value = getattr(settings, name)
        if written == parameter:
            return value.get_secret_value() if hasattr(value, "get_secret_value") else value
        if parameter.startswith(f"{written}.") and hasattr(type(value), "model_fields"):
            return value_at(value, parameter, f"{written}.")
    raise AssertionError(parameter)


def test_every_parameter_is_tested_here() -> None:
    of_tls = [name for name in parameter_names(ConnectionSettings) if "confluent.encryption." in name]
    many = ["item-template.<NAME>", "map.<TOPIC>.to", "field.<NAME>"]
    assert {*ALL, *of_tls, *many} == set(parameter_names(ConnectionSettings))


@pytest.mark.parametrize("form", ["xml", "yaml"])
def test_every_parameter_can_be_given(tmp_path: Path, form: str) -> None:
    given = {name: text for name, (text, _) in ALL.items()}
    given |= {
        name.replace("encryption.", "schema.registry.confluent.encryption."): text
        for name, text in given.items()
        if name.startswith("encryption.") and name != "encryption.enable"
    }
    given |= {"map.LTest.to": "ltest", "field.value": "#{VALUE.x}"}
    if form == "xml":
        found = load(tmp_path, xml(given)).connections["Q"]
    else:
        lines = [f"    {name}: {text!r}" for name, text in given.items()]
        found = load(tmp_path, "connections:\n  Q:\n" + "\n".join(lines), "gateway.yaml").connections["Q"]
    for name, (_, expected) in ALL.items():
        value = value_at(found, name)
        if isinstance(value, Path):
            assert value == tmp_path / expected, name
        else:
            assert value == expected, name
    assert found.registry.encryption.keystore_path == tmp_path / "key.jks"


@pytest.mark.parametrize(
    ("parameter", "value", "says"),
    [
        ("enable", "yes", "must be true or false, not 'yes'"),
        ("bootstrap.servers", "localhost", "must be host:port"),
        ("bootstrap.servers", "localhost:99999", "must be host:port"),
        ("bootstrap.servers", "", "must be host:port"),
        ("group.id", "", "must not be empty"),
        ("encryption.enable", "1", "must be true or false"),
        ("encryption.protocol", "SSLv3", "must be 'TLSv1.2' or 'TLSv1.3', not 'SSLv3'"),
        ("encryption.enabled.protocols", "TLSv1.1", "'TLSv1.1' is not allowed; allowed: TLSv1.2, TLSv1.3"),
        ("encryption.truststore.type", "BKS", "must be 'JKS', 'PKCS12' or 'PEM'"),
        ("encryption.keystore.enable", "true", "encryption.keystore.path: is required with keystore.enable"),
        ("authentication.enable", "true", "authentication.mechanism: PLAIN needs username and password"),
        ("authentication.mechanism", "AWS_MSK_IAM", "must be 'PLAIN', 'SCRAM-SHA-256'"),
        ("schema.registry.provider", "AZURE", "must be 'CONFLUENT', not 'AZURE'"),
        ("schema.registry.url", "localhost:8081", "must begin with http:// or https://"),
        ("schema.registry.confluent.basic.authentication.enable", "true", "needs"),
        ("record.consume.from", "START", "must be 'LATEST' or 'EARLIEST', not 'START'"),
        ("record.consume.with.max.poll.records", "0", "greater than or equal to 1"),
        ("record.consume.with.max.poll.records", "many", "must be a valid integer"),
        ("record.consume.with.session.timeout.ms", "-1", "greater than or equal to 1"),
        ("record.consume.with.num.threads", "0", "must be 1 or more, or -1"),
        (
            "record.consume.with.order.strategy",
            "BY_LUCK",
            "'ORDER_BY_PARTITION', 'ORDER_BY_KEY' or 'UNORDERED'",
        ),
        ("record.key.evaluator.type", "XML", "must be 'STRING', 'JSON', 'AVRO'"),
        ("record.value.evaluator.type", "AVRO", "AVRO needs schema.path or schema.registry.enable"),
        ("record.value.evaluator.type", "PROTOBUF", "PROTOBUF needs schema.path"),
        ("record.value.evaluator.kvp.pairs.separator", ";;", "must be one character, not ';;'"),
        ("record.value.evaluator.kvp.key-value.separator", "", "must be one character"),
        ("record.value.evaluator.schema.registry.enable", "true", "is for AVRO, PROTOBUF and JSON"),
        ("record.extraction.error.strategy", "PANIC", "'IGNORE_AND_CONTINUE' or 'FORCE_UNSUBSCRIPTION'"),
        ("item-template.a", "a-#{x=NOPE}", "must begin with one of KEY, VALUE"),
        ("item-template.a", "a-#{x=VALUE.y}", "nothing can follow VALUE, which is of type STRING"),
        ("map.other.to", "item-template.none", "there is no item-template.none (none is defined)"),
        ("map.other.to", "a b", "is neither an item"),
        ("map.other.to", "a,,b", "must not be empty"),
        ("field.x", "VALUE", "is not an extraction expression"),
        ("field.x", "#{VALUE.a}", "nothing can follow VALUE, which is of type STRING"),
        ("field.x", "#{KEY[0]}", "nothing can follow KEY, which is of type STRING"),
        ("field.*", "#{VALUE}", "must end in .*"),
        ("field.x", "#{HEADERS.*}", "must not end in .*"),
        ("field.*", "#{VALUE.*}", "nothing can follow VALUE, which is of type STRING"),
        ("fields.auto.command.mode.enable", "true", "field.key: is required by the command modes"),
        ("encryption.engine.factory.class", "x", "chooses a part of a JVM"),
        ("record.consume.form", "LATEST", "unknown parameter; did you mean record.consume.from"),
        ("qqqqqqqq", "1", "unknown parameter; docs/gateway.md"),
        ("map.to", "x", "unknown parameter"),
        ("field.", "x", "unknown parameter"),
        ("map.[.to", "i", "no fault"),
    ],
)
def test_a_bad_parameter_is_told_with_file_line_and_name(
    tmp_path: Path, parameter: str, value: str, says: str
) -> None:
    given = {**MINIMAL}
    given.pop(parameter, None)
    given[parameter] = value
    path = tmp_path / "adapters.xml"
    path.write_text(xml(given))
    if says == "no fault":
        load_configuration(path)
        return
    with pytest.raises(BadInput) as refused:
        load_configuration(path)
    [fault] = str(refused.value).splitlines()
    assert says in fault
    line = 4 if says.startswith("field.key") else 4 + len(given)
    named = (
        says.partition(":")[0]
        if says.endswith(("is required", "is required by the command modes"))
        else parameter
    )
    if "keystore" in parameter or "authentication.enable" in parameter:
        named = parameter.removesuffix("enable")
    assert fault.startswith(f"{path}:{line}: connection Q: {named}")


def test_faults_between_parameters(tmp_path: Path) -> None:
    assert "schema.registry.url: is required when" in refusal(
        tmp_path,
        record__value__evaluator__type="AVRO",
        record__value__evaluator__schema__registry__enable="true",
    )
    assert "schema.path: excludes schema.registry.enable" in refusal(
        tmp_path,
        record__value__evaluator__type="AVRO",
        record__value__evaluator__schema__path="x",
        record__value__evaluator__schema__registry__enable="true",
    )
    assert "record.value.evaluator.protobuf.message.type: is required" in refusal(
        tmp_path, record__value__evaluator__type="PROTOBUF", record__value__evaluator__schema__path="x"
    )
    commands = {"fields__evaluate__as__command__enable": "true", "field__key": "#{KEY}"}
    assert "adapters.xml:8: connection Q: fields.evaluate.as.command.enable: needs field.command" in refusal(
        tmp_path, **commands
    )
    told = refusal(
        tmp_path, **commands, field__command="#{HEADERS.c}", record__consume__with__num__threads="2"
    )
    assert "adapters.xml:11: connection Q: record.consume.with.num.threads: must be 1" in told
    connection(
        tmp_path,
        **commands,
        fields__auto__command__mode__enable="true",
        record__consume__with__num__threads="2",
    )
    assert "is no regular expression" in refusal(
        tmp_path, **{"map__(__to": "i", "map__regex__enable": "true"}
    )
    gssapi = {"authentication__enable": "true", "authentication__mechanism": "GSSAPI"}
    assert "needs gssapi.kerberos.service.name" in refusal(tmp_path, **gssapi)
    gssapi["authentication__gssapi__kerberos__service__name"] = "kafka"
    assert "needs gssapi.principal" in refusal(tmp_path, **gssapi)
    gssapi |= {"authentication__gssapi__principal": "me", "authentication__gssapi__key__tab__enable": "true"}
    assert "authentication.gssapi.key.tab.path: is required" in refusal(tmp_path, **gssapi)


def test_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        load(tmp_path, xml({"group.id": "g"}))
    assert "adapters.xml:4: connection Q: bootstrap.servers: is required" in str(refused.value)
    with pytest.raises(BadInput, match=r":4: connection Q: map\.<TOPIC>\.to: at least one is required"):
        load(tmp_path, xml({"bootstrap.servers": "a:1", "field.v": "#{VALUE}"}))
    with pytest.raises(BadInput, match=r":4: connection Q: field\.<NAME>: at least one is required"):
        load(tmp_path, xml({"bootstrap.servers": "a:1", "map.t.to": "i"}))


def test_all_faults_are_told_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    told = refusal(tmp_path, field__x="?", enable="maybe", nonsense="1").splitlines()
    assert [line.split(":")[1] for line in told] == ["8", "9", "10"]


@pytest.mark.parametrize("old", sorted(OLD_NAMES))
def test_old_names_are_taken_and_shown_as_they_were_written(tmp_path: Path, old: str) -> None:
    new = present_name(old)
    text = ALL[new][0]
    more = {n: t for n, (t, _) in ALL.items() if n.startswith(new.split(".")[0] + ".") and n != new}
    more["schema.registry.url"] = "http://r"
    given = {**MINIMAL, "field.value": "#{TOPIC}", **more, old: text}
    found = load(tmp_path, xml(given)).connections["Q"]
    value = value_at(found, new)
    assert value == (tmp_path / text if isinstance(value, Path) else ALL[new][1])
    with pytest.raises(BadInput, match=f"{old}: is the same as {new}; leave one of them"):
        load(tmp_path, xml({**MINIMAL, new: text, old: text}))


def test_old_prefixes_of_the_registry(tmp_path: Path) -> None:
    found = connection(
        tmp_path,
        schema__registry__url="https://r",
        schema__registry__basic__authentication__enable="true",
        schema__registry__basic__authentication__username="u",
        schema__registry__basic__authentication__password="p",
        schema__registry__encryption__truststore__path="t.jks",
    )
    assert (found.registry.basic_enable, found.registry.basic_username) == (True, "u")
    assert found.registry.encryption.truststore_path == tmp_path / "t.jks"


def test_the_seeds_old_configurations(tmp_path: Path) -> None:
    one = connection(tmp_path, **{"item-template__ltest": "ltest", "map__LTest__to": "item-template.ltest"})
    assert [template.names for template in one.routes["LTest"]] == [()]
    three = load(
        tmp_path,
        xml(
            {
                "bootstrap.servers": "localhost:9092",
                "item-template.jsontest": "jsontest-#{key=KEY}",
                "map.LTest.to": "item-template.jsontest",
                "value.evaluator.type": "JSON",
                "field.hobbies": "#{VALUE.hobbies[0]}",
                "field.firstnumber": "#{VALUE.firstnumber}",
            },
            {"logging.configuration.path": "log4j.properties"},
        ),
    ).connections["Q"]
    assert three.value.type == "JSON"
    assert [str(e) for e in three.routes["LTest"][0].expressions] == ["KEY"]


def test_server_settings_in_both_forms(tmp_path: Path) -> None:
    server = {
        "default_diff_order": "jsonpatch, diff_match_patch",
        "jsonpatch_min_length": "500",
        "max_delay_millis": "30",
        "limits.sessions": "2k",
        "allowed_origins": "https://a.example",
        "users": "users.txt",
    }
    found = load(tmp_path, xml(MINIMAL, server)).server
    yaml = (
        "server:\n  default_diff_order: [jsonpatch, diff_match_patch]\n  jsonpatch_min_length: 500\n"
        "  max_delay_millis: 30\n  limits: {sessions: 2k}\n  allowed_origins: https://a.example\n"
        "  users: users.txt\n"
        "connections:\n  Q: {bootstrap.servers: 'a:1', map: {t: {to: i}}, field: {v: '#{VALUE}'}}\n"
    )
    assert found == load(tmp_path, yaml, "gateway.yaml").server
    assert found.default_diff_order == ("jsonpatch", "diff_match_patch")
    assert (found.jsonpatch_min_length, found.max_delay_millis, found.limits.sessions) == (500, 30, 2000)
    assert found.users == tmp_path / "users.txt"
    with pytest.raises(BadInput, match=r"adapters\.xml:3: default_diff_order\.0: must be 'jsonpatch'"):
        load(tmp_path, xml(MINIMAL, {"default_diff_order": "xdelta"}))
    with pytest.raises(BadInput, match=r"adapters\.xml:3: limits\.sesions: unknown parameter; did you mean"):
        load(tmp_path, xml(MINIMAL, {"limits.sesions": "1"}))


def test_secrets_come_from_the_environment_and_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "s3cret")
    given = {
        "authentication__enable": "true",
        "authentication__username": "u",
        "authentication__password": "${KAFKA_PASSWORD}",
    }
    found = load(tmp_path, xml({**MINIMAL, **{k.replace("__", "."): v for k, v in given.items()}}))
    password = found.connections["Q"].authentication.password
    assert password is not None
    assert password.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(found) + repr(found.connections)
    monkeypatch.delenv("KAFKA_PASSWORD")
    assert "adapters.xml:10: authentication.password: the environment has no KAFKA_PASSWORD" in refusal(
        tmp_path, **given
    )


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.xml: cannot be read: No such file"):
        load_configuration(tmp_path / "none.xml")
    with pytest.raises(BadInput, match="cannot be read"):
        load_configuration(tmp_path)


def test_the_place_of_a_parameter(tmp_path: Path) -> None:
    found = load(tmp_path, xml({**MINIMAL, "value.evaluator.type": "STRING"}))
    path = tmp_path / "adapters.xml"
    name = "record.value.evaluator.type"
    assert found.place("Q", name) == f"{path}:8: connection Q: {name}"
    assert found.place("Q", "group.id") == f"{path}: connection Q: group.id"
