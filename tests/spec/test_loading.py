from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.families.e2e.workload import EndToEndWorkload
from streamgauge.families.sweep.workload import SweepWorkload
from streamgauge.spec.load import FileLines, Keys, Load, Message, SizeDistribution
from streamgauge.spec.loading import dump_yaml, load_target, load_workload, parse
from streamgauge.spec.model import SpecModel
from streamgauge.spec.rate import Step
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.spec.workload import Workload
from streamgauge.systems.embedded_kafka import KafkaClusterSpec

from ..core.properties import untimed
from .conftest import Write
from .samples import GONE, TARGET, WORKLOAD, changed

STEP = {"rate": "1k/s", "for": "1s"}
DRAWN = {"distribution": "normal", "min": 100, "max": 200, "mean": 150, "sd": 10}


def refused(path: Path) -> str:
    """The one line with which the file is refused."""
    with pytest.raises(BadInput) as caught:
        load_workload(path)
    message = str(caught.value)
    assert "\n" not in message, "one fault is one line"
    return message


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"lod": {}}, "lod", "unknown field"),
        ({"load__mesages": 5}, "load.mesages", "unknown field"),
        ({"load__message__keys": {"kin": "none"}}, "load.message.keys.kin", "unknown field"),
        ({"targets__0__drivr": "x"}, "targets.0.drivr", "unknown field"),
        ({"load": GONE}, "load", "required"),
        ({"targets": GONE}, "targets", "required"),
        ({"targets__0__driver": GONE}, "targets.0.driver", "required"),
        ({"targets": []}, "targets", "at least 1"),
        ({"targets": "kafka"}, "targets", "must be"),
        ({"targets": [TARGET, TARGET]}, "the file", "same name: kafka, kafka"),
        ({"load": None}, "load", "must be"),
        ({"name": "a b"}, "name", "not a plain name"),
        ({"name": "ab\n"}, "name", "not a plain name"),
        ({"name": "x" * 64}, "name", "not a plain name"),
        ({"targets__0__name": "../up"}, "targets.0.name", "not a plain name"),
        ({"load__messages": 0}, "load.messages", "greater than or equal to 1"),
        ({"load__messages": "10kB"}, "load.messages", "not a count"),
        ({"load__messages": 2.5}, "load.messages", "whole number"),
        ({"load__messages": 5, "load__producers": 6}, "load", "5 cannot be shared by 6 producers"),
        ({"load__producers": 0}, "load.producers", "greater than or equal to 1"),
        ({"load__consumers": -1}, "load.consumers", "must not be negative"),
        ({"load__warm_up_messages": 2, "load__producers": 3}, "load", "below one for each producer"),
        ({"load__rate": "fast"}, "load.rate", "not a rate"),
        ({"load__rate": "10s"}, "load.rate", "not a rate"),
        ({"load__rate": -5}, "load.rate", "must not be negative"),
        ({"load__rate": "-5k/s"}, "load.rate", "must not be negative"),
        ({"load__rate": 0}, "load.rate", "above 0"),
        ({"load__rate": True}, "load.rate", "not a rate"),
        ({"load__rate": {"rate": 5}}, "load.rate", "must be"),
        ({"load__rate": [], "load__messages": GONE}, "load.rate", "must not be empty"),
        (
            {"load__rate": [{"rate": 0, "for": 1}], "load__messages": GONE},
            "load.rate.0.rate",
            "greater than 0",
        ),
        ({"load__rate": [{"rate": 5}], "load__messages": GONE}, "load.rate.0.for", "required"),
        (
            {"load__rate": [{"rate": 5, "for": "x"}], "load__messages": GONE},
            "load.rate.0.for",
            "not a duration",
        ),
        ({"load__rate": [STEP]}, "load", "leave out `messages` and `duration`"),
        (
            {"load__rate": [STEP], "load__messages": GONE, "load__duration": 5},
            "load",
            "leave out `messages` and `duration`",
        ),
        (
            {"load__rate": [{"rate": 1, "for": 2}], "load__messages": GONE, "load__producers": 3},
            "load",
            "no message for some of 3 producers",
        ),
        ({"load__messages": GONE}, "load", "exactly one of `messages`, `duration` and"),
        ({"load__duration": "5s"}, "load", "exactly one of `messages`, `duration` and"),
        ({"load__messages": GONE, "load__duration": "5KiB"}, "load.duration", "not a duration"),
        ({"load__messages": GONE, "load__duration": 0}, "load.duration", "greater than 0"),
        ({"load__time_limit": 0}, "load.time_limit", "greater than 0"),
        ({"load__drain_timeout": "never"}, "load.drain_timeout", "not a duration"),
        ({"load__acks": 2}, "load.acks", "must be '0', '1' or 'all', not '2'"),
        ({"load__acks": True}, "load.acks", "must be"),
        ({"load__compression": "zip"}, "load.compression", "must be"),
        ({"load__subscription": "solo"}, "load.subscription", "must be"),
        ({"load__message__size": "10s"}, "load.message.size", "not a size"),
        ({"load__message__size": -1}, "load.message.size", "must not be negative"),
        ({"load__message__size": True}, "load.message.size", "not a size"),
        ({"load__message__size": None}, "load.message.size", "must be"),
        (
            {"load__message__size": 31, "load__message__header_in": "value"},
            "load.message",
            "below the 32 bytes",
        ),
        (
            {"load__message__size": {**DRAWN, "min": 31}, "load__message__header_in": "value"},
            "load.message",
            "size 31 is below the 32 bytes",
        ),
        ({"load__message__size": {**DRAWN, "min": 300}}, "load.message.size", "min 300 is above max 200"),
        ({"load__message__size": {**DRAWN, "sd": None}}, "load.message.size", "needs mean and sd"),
        ({"load__message__size": {**DRAWN, "mean": 0}}, "load.message.size", "needs mean and sd"),
        (
            {"load__message__size": {**DRAWN, "distribution": "zipf"}},
            "load.message.size.distribution",
            "must be",
        ),
        ({"load__message__size": {"distribution": "uniform", "min": 5}}, "load.message.size.max", "required"),
        ({"load__message__size": {"lines_of": "f", "min": 5}}, "load.message.size.min", "unknown field"),
        ({"load__message__header_in": "tail"}, "load.message.header_in", "must be"),
        (
            {"load__message__header_in": "key", "load__message__keys": {"kind": "random", "of": 5}},
            "load.message",
            "the key cannot carry the header",
        ),
        ({"load__message__keys": {"kind": "random"}}, "load.message.keys", "at least 1"),
        ({"load__message__keys": {"kind": "none", "of": 5}}, "load.message.keys", "absent for none"),
        ({"load__message__headers": {"a": 5}}, "load.message.headers.a", "must be"),
        ({"load__topics__name": "a/b"}, "load.topics.name", "no topic name"),
        ({"load__topics__name": ".."}, "load.topics.name", "no topic name"),
        ({"load__topics__name": "a\n"}, "load.topics.name", "no topic name"),
        ({"load__topics__name": "x" * 201}, "load.topics.name", "no topic name"),
        ({"load__topics__partitions": 0}, "load.topics.partitions", "greater than or equal to 1"),
        ({"targets__0__client": {"linger.ms": [5]}}, "targets.0.client.linger.ms", "not [5]"),
        (
            {"targets__0__producer_client": {"linger.ms": None}},
            "targets.0.producer_client.linger.ms",
            "not None",
        ),
        ({"targets__0__system": {"kind": "kafka"}}, "targets.0.system.kind", "no system of kind"),
        ({"targets__0__system": {"brokers": 2}}, "targets.0.system.brokers", "1, 3 or 5"),
        ({"targets__0__system": {"brokers": 7}}, "targets.0.system.brokers", "less than or equal to 5"),
        ({"targets__0__system": {"properties": {"a": {}}}}, "targets.0.system.properties.a", "not {}"),
        ({"sweep": {"message.size": 100}}, "sweep.message.size", "must be"),
        ({"sweep": ["message.size"]}, "sweep", "must be"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_what_is_wrong_is_one_line_that_names_file_and_field(
    write: Write, fields: dict[str, Any], field: str, words: str
) -> None:
    path = write(changed(WORKLOAD, **fields))
    message = refused(path)
    assert message.startswith(f"{path}: {field}: ")
    assert words in message


def test_several_faults_are_one_line_each(write: Write) -> None:
    path = write(changed(WORKLOAD, load__producers=0, load__acks="most", colour="red"))
    with pytest.raises(BadInput) as caught:
        load_workload(path)
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(f"{path}: ").partition(":")[0] for line in lines] == [
        "load.producers",
        "load.acks",
        "colour",
    ]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert (
        refused(tmp_path / "none.yaml") == f"{tmp_path}/none.yaml: cannot be read: No such file or directory"
    )


def test_a_folder_is_no_workload(tmp_path: Path) -> None:
    assert refused(tmp_path).startswith(f"{tmp_path}: cannot be read")


@pytest.mark.parametrize(
    "text", ["load: [", "a: b: c", "\tload: 1", "load: !!python/object:os.system {}", "load: 2024-13-45"]
)
def test_invalid_yaml_is_one_line(write: Write, text: str) -> None:
    path = write(text)
    assert refused(path).startswith(f"{path}: is not valid YAML: ")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_bytes(b"\xff\xfe\xfa")
    assert refused(path) == f"{path}: is not UTF-8 text"


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "5", "null"])
def test_what_is_no_mapping_is_refused(write: Write, text: str) -> None:
    path = write(text)
    assert refused(path) == f"{path}: must be a mapping of fields at its top level"


def test_a_target_may_be_a_file_beside_the_workload(write: Write) -> None:
    write(TARGET, "kafka.yaml")
    path = write(changed(WORKLOAD, targets=["kafka.yaml", {"name": "other", "driver": "simulated"}]))
    assert [target.name for target in load_workload(path).targets] == ["kafka", "other"]


def test_a_target_file_that_is_not_there_is_named(write: Write, tmp_path: Path) -> None:
    path = write(changed(WORKLOAD, targets=["none.yaml"]))
    assert refused(path).startswith(f"{tmp_path}/none.yaml: cannot be read")


def test_a_fault_in_a_target_file_names_that_file(write: Write) -> None:
    target = write({**TARGET, "colour": "red"}, "kafka.yaml")
    path = write(changed(WORKLOAD, targets=["kafka.yaml"]))
    assert refused(path) == f"{target}: colour: unknown field"


def test_a_target_file_is_loaded_alone_too(write: Write) -> None:
    assert load_target(write(TARGET)) == Target(name="kafka", driver="kafka_confluent")


def test_a_file_of_lines_is_found_from_the_workloads_folder(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    workload = load_workload(write(changed(WORKLOAD, load__message__size={"lines_of": "lines.txt"})))
    assert isinstance(workload, EndToEndWorkload)
    assert workload.load.message.size == FileLines(lines_of=str(tmp_path / "lines.txt"))


def test_an_absolute_file_of_lines_stays_as_it_is(write: Write) -> None:
    workload = load_workload(write(changed(WORKLOAD, load__message__size={"lines_of": "/data/lines.txt"})))
    assert isinstance(workload, EndToEndWorkload)
    assert workload.load.message.size == FileLines(lines_of="/data/lines.txt")


def test_parse_names_the_source_it_is_given() -> None:
    class Two(SpecModel):
        number: int

    assert parse(Two, {"number": 2}, "x").number == 2
    with pytest.raises(BadInput, match=r"^target k: settings: number: must be .*, not 'two'$"):
        parse(Two, {"number": "two"}, "target k: settings")


plain_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,20}", fullmatch=True)
settings_maps = st.dictionaries(
    st.from_regex(r"[a-z]+\.ms", fullmatch=True),
    st.one_of(
        st.text(max_size=5), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
    ),
    max_size=2,
)
targets = st.builds(
    Target,
    name=plain_names,
    driver=plain_names,
    client=settings_maps,
    producer_client=settings_maps,
    system=st.none() | st.builds(KafkaClusterSpec, brokers=st.sampled_from([1, 3, 5])),
)
sizes = st.one_of(
    st.integers(32, 100_000),
    st.just(SizeDistribution(distribution="uniform", min=40, max=90)),
    st.just(SizeDistribution(distribution="lognormal", min=40, max=90, mean=50, sd=5)),
    st.just(FileLines(lines_of="/data/lines.txt")),
)
messages = st.builds(
    Message,
    size=sizes,
    keys=st.sampled_from([Keys(), Keys(kind="random", of=3), Keys(kind="round_robin", of=1)]),
    headers=st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
    header_in=st.sampled_from(["auto", "value", "headers"]),
)
amounts = st.sampled_from(
    [
        {"messages": 1000},
        {"duration": 2.5, "rate": 1e4},
        {"duration": 0.1},
        {"rate": (Step(rate=100, **{"for": 1}), Step(rate=0.5, **{"for": 60}))},
    ]
)
loads = st.builds(
    lambda amount, **fields: Load(**amount, **fields),
    amounts,
    producers=st.integers(1, 5),
    acks=st.sampled_from(["0", "1", "all"]),
    message=messages,
    topics=st.builds(Topics, partitions=st.integers(1, 9), keep=st.booleans()),
    warm_up_messages=st.sampled_from([0, 5, 100]),
)
workloads = st.builds(
    SweepWorkload,
    name=plain_names,
    targets=st.lists(targets, min_size=1, max_size=2, unique_by=lambda target: target.name).map(tuple),
    load=loads,
    sweep=st.sampled_from([{}, {"message.size": (100, "1KiB"), "producers": (1, 2)}]),
)


@given(workload=workloads)
@untimed
def test_a_workload_dumped_is_loaded_back_the_same(
    workload: Workload, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "dumped.yaml"
    path.write_text(dump_yaml(workload))
    assert load_workload(path) == workload


def test_a_dump_leaves_out_what_is_default() -> None:
    assert dump_yaml(Workload.model_validate(WORKLOAD)) == (
        "kind: e2e\ntargets:\n- name: kafka\n  driver: kafka_confluent\nload:\n  messages: 1000\n"
    )
