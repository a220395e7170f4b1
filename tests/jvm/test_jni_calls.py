from __future__ import annotations

import platform
import sys

import pytest

from tests.jvm.fresh_python import run_fresh

jpype = pytest.importorskip("jpype")

from streamgauge.jvm import embedded, jni_calls  # noqa: E402 - it needs jpype
from streamgauge.jvm.jars import fetch  # noqa: E402
from streamgauge.jvm.jni_calls import CannotCount  # noqa: E402

can_count = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64") or sys.platform == "win32",
    reason="not on this machine",
)


@pytest.fixture(autouse=True)
def running() -> None:
    """With the jars of whoever comes after us in this process: Kafka's classes do not find each other when
    they are added to a Java that was started without them."""
    embedded.start(fetch("kafka-clients"))


def counted(times: int) -> int:
    absolute = jpype.JClass("java.lang.Math").abs
    before = jni_calls.calls()
    for _ in range(times):
        absolute(-5)
    return jni_calls.calls() - before


@can_count
def test_calls_are_counted_while_it_is_on() -> None:
    assert counted(100) == 0
    jni_calls.switch_on(embedded.library_in_use())
    try:
        once, thrice = counted(2000), counted(6000)
    finally:
        jni_calls.switch_off()
    assert once >= 2000, "a Java method is called through JNI"
    assert thrice == pytest.approx(3 * once, rel=0.05)
    assert counted(100) == 0


@can_count
def test_it_is_off_when_everybody_has_switched_it_off() -> None:
    for _ in range(2):
        jni_calls.switch_on(embedded.library_in_use())
    jni_calls.switch_off()
    assert counted(10) > 0
    jni_calls.switch_off()
    assert counted(10) == 0


@can_count
def test_calls_with_any_number_of_arguments_arrive_whole() -> None:
    """Variable arguments, floating point and long strings go through the same few bytes of code."""
    jni_calls.switch_on(embedded.library_in_use())
    try:
        text = jpype.JClass("java.lang.String").format("%s %.2f %d %s", "a" * 1000, 2.5, 7, "é")
        assert str(text) == "a" * 1000 + " 2.50 7 é"
        assert jpype.JClass("java.lang.Math").fma(2.0, 3.0, 4.0) == 10.0
        assert bytes(jpype.JArray(jpype.JByte)(b"\x00\xff" * 500)) == b"\x00\xff" * 500
        with pytest.raises(jpype.JException):
            jpype.JClass("java.lang.Integer").parseInt("x")
    finally:
        jni_calls.switch_off()


@can_count
def test_callbacks_in_threads_of_java_are_counted_too() -> None:
    called = []
    jni_calls.switch_on(embedded.library_in_use())
    try:
        before = jni_calls.calls()
        thread = jpype.JClass("java.lang.Thread")(lambda: called.append(1))
        thread.start()
        thread.join()
        assert jni_calls.calls() - before > 0
    finally:
        jni_calls.switch_off()
    assert called == [1]


def test_a_machine_that_cannot_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(CannotCount, match=r"cannot be counted on .* riscv64"):
        jni_calls._Tables("unused")


@can_count
def test_without_a_running_java_it_says_so() -> None:
    script = """
from streamgauge.jvm import embedded, jni_calls
from streamgauge.jvm.java import find_java
try:
    jni_calls.switch_on(embedded._library(find_java()))
except jni_calls.CannotCount as error:
    print(error)
"""
    done = run_fresh(script)
    assert "does not run in this process" in done.stdout, done.stderr
