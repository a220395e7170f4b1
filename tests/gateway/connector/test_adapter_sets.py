from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.adapter_sets import make_adapter_set, warn_of_what_is_not_done
from streamgauge.gateway.connector.configuration import load_configuration
from streamgauge.gateway.server.authentication import hash_token
from streamgauge.gateway.server.contract import AdapterSet, UnknownItem

ONE = "{bootstrap.servers: '127.0.0.1:9', map.t.to: i, field.v: '#{VALUE}'"


def made(tmp_path: Path, text: str, **processes: int) -> AdapterSet:
    path = tmp_path / "gateway.yaml"
    path.write_text(text)
    return make_adapter_set(load_configuration(path), **processes)


def group_of(adapters: AdapterSet, name: str) -> str:
    return str(adapters.sources[name]._client["group.id"])  # type: ignore[attr-defined]


def test_a_single_connection_is_meant_when_none_is_named(tmp_path: Path) -> None:
    found = made(tmp_path, f"adapter_set: S\nconnections:\n  Q: {ONE}}}")
    assert (found.name, list(found.sources), found.default_source) == ("S", ["Q"], "Q")
    assert found.authenticator is None
    two = made(tmp_path, f"connections:\n  Q: {ONE}}}\n  R: {ONE}}}")
    assert (list(two.sources), two.default_source) == (["Q", "R"], "DEFAULT")


def test_groups_are_new_each_time_unless_they_are_given_and_one_for_each_process(tmp_path: Path) -> None:
    text = f"adapter_set: S\nconnections:\n  Q: {ONE}}}\n  R: {ONE}, group.id: g}}"
    first, second = made(tmp_path, text), made(tmp_path, text)
    assert group_of(first, "Q").startswith("S-Q-")
    assert group_of(first, "Q") != group_of(second, "Q")
    assert group_of(first, "R") == "g"
    groups = {group_of(made(tmp_path, text, process=n, processes=2), "R") for n in range(2)}
    assert groups == {"g-1", "g-2"}


def test_a_disabled_connection_refuses_everything(tmp_path: Path) -> None:
    [source] = made(tmp_path, f"connections:\n  Q: {ONE}, enable: false}}").sources.values()
    with pytest.raises(UnknownItem, match="Connection Q is disabled") as refused:
        source.subscribe("i")
    assert refused.value.code == -1


def test_items_that_there_cannot_be(tmp_path: Path) -> None:
    [source] = made(tmp_path, f"connections:\n  Q: {ONE}}}").sources.values()
    for item in ("j", "i-[a=1]", "i i", ""):
        with pytest.raises(UnknownItem) as refused:
            source.subscribe(item)
        assert refused.value.code == 21


def test_users(tmp_path: Path) -> None:
    (tmp_path / "users.txt").write_text(f"*:{hash_token('t')}\n")
    found = made(tmp_path, f"server: {{users: users.txt}}\nconnections:\n  Q: {ONE}}}")
    assert found.authenticator is not None
    found.authenticator.authenticate(None, "t", "127.0.0.1")
    with pytest.raises(BadInput, match=r"none\.txt: cannot be read"):
        made(tmp_path, f"server: {{users: none.txt}}\nconnections:\n  Q: {ONE}}}")


def test_files_that_are_not_there_are_told_with_the_line_that_names_them(tmp_path: Path) -> None:
    text = (
        f"connections:\n  Q:\n    {ONE[1:].replace(', ', chr(10) + '    ')}\n    value.evaluator.type: AVRO\n"
    )
    text = text.replace("field.v: '#{VALUE}'", "field.v: '#{VALUE.a}'")
    with pytest.raises(BadInput) as refused:
        made(tmp_path, text + "    value.evaluator.schema.path: s.avsc\n")
    assert str(refused.value) == (
        f"{tmp_path}/gateway.yaml:7: connection Q: record.value.evaluator.schema.path: "
        f"{tmp_path}/s.avsc: cannot be read: No such file or directory"
    )
    with pytest.raises(
        BadInput, match=r"yaml:6: connection Q: encryption\.truststore\.path: .*t\.jks: cannot"
    ):
        made(
            tmp_path,
            text.replace(
                "    value.evaluator.type: AVRO\n", "    encryption.truststore.path: t.jks\n"
            ).replace("VALUE.a", "VALUE")
            + "    encryption.enable: true\n",
        )


def test_warnings_name_the_connection(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "gateway.yaml"
    path.write_text(f"connections:\n  Q: {ONE}, record.consume.with.num.threads: 2}}")
    with caplog.at_level("WARNING"):
        warn_of_what_is_not_done(load_configuration(path))
    assert "connection Q: record.consume.with.num.threads: records are mapped in one thread" in caplog.text


def test_what_kafkas_client_does_not_take_is_told_before_anybody_subscribes(tmp_path: Path) -> None:
    tls = "encryption: {enable: true, cipher.suites: NOPE}"
    with pytest.raises(
        BadInput,
        match=r"connection Q: encryption\.(enable|cipher\.suites): Kafka's client does not take it: ",
    ):
        made(tmp_path, f"connections:\n  Q: {ONE}, {tls}}}")
