"""How Java is asked, without a Java: answers as py4j's protocol has them."""

from __future__ import annotations

import threading
from typing import Any

import py4j.java_gateway
import pytest
from py4j.java_gateway import JavaMember

from streamgauge.launch import hadoop_java
from streamgauge.launch.hadoop_java import ask, check_folders_scheme


class FakeJava:
    """Knows what a call of a name is answered with."""

    def __init__(self, **answers: str) -> None:
        self._answers = {"getClass": "yro9", "getName": "ysjava.io.IOException", **answers}
        self.converters: list[Any] = []
        self.address, self.port = "nowhere", 0
        self.gateway_property: Any = _Property()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def send_command(self, command: str, **_: Any) -> str:
        if not command.startswith("c\n"):
            return "ym" if command.startswith("r\n") else "yv"  # whether a name is a method; the rest
        self.may_answer.wait(30)
        return self._answers[command.split("\n")[2]]

    def method(self, name: str) -> Any:
        return JavaMember(name, None, "o1", self)

    def garbage_collect_object(self, target_id: str) -> None: ...


class _Property:
    auto_field = False
    enable_memory_management = False
    pool = None


@pytest.fixture(autouse=True)
def pyspark_takes_every_exception_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does from its first session on; ours are of another Java."""

    def captured(answer: str, *rest: Any) -> Any:
        assert not answer.startswith("x"), "PySpark was asked about an exception"
        return py4j.protocol.get_return_value(answer, *rest)

    monkeypatch.setattr(py4j.java_gateway, "get_return_value", captured)


def test_an_answer_is_an_answer() -> None:
    java = FakeJava(rename="ybtrue", getLen="yi42")
    assert ask(java.method("rename"), "a", "b") is True
    assert ask(java.method("getLen")) == 42


@pytest.mark.parametrize(
    ("kind", "error"),
    [("java.io.FileNotFoundException", FileNotFoundError), ("java.io.IOException", OSError)],
)
def test_an_exception_is_one_line_of_an_os_error(kind: str, error: type[OSError]) -> None:
    java = FakeJava(open="xro5", getMessage="ysFile does not exist: /a\\nat line 1", getName=f"ys{kind}")
    with pytest.raises(error, match=r"^File does not exist: /a$") as caught:
        ask(java.method("open"), "/a")
    assert type(caught.value) is error


def test_a_java_that_is_silent_is_not_waited_for_for_ever() -> None:
    java = FakeJava(mkdirs="ybtrue")
    java.may_answer.clear()
    with pytest.raises(OSError, match=r"no answer within 0\.05 s"):
        ask(java.method("mkdirs"), deadline_s=0.05)
    java.may_answer.set()
    # The late answer is nobody else's.
    assert ask(FakeJava(getLen="yi7").method("getLen")) == 7


def test_paths_and_files_need_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise AssertionError("Java was started")

    monkeypatch.setattr(hadoop_java, "hadoop_java", refuse)
    check_folders_scheme("runs")
    check_folders_scheme("/mnt/runs")
    check_folders_scheme("file:///mnt/runs")
