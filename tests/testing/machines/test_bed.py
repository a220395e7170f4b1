"""Machines of the test bed, each judged by what its own processes see."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.testing.machines.bed import Machine, Machines
from streamgauge.testing.machines.clocks import ClockFault
from streamgauge.testing.machines.wire import Link
from tests.waiting import wait_for

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("machines_are_there")]

DELAY_MS, OFFSET_MS, DRIFT_PPM = 20.0, -200.0, 50_000.0
"""A drift that no clock has, so that a moment shows it."""
FAR_LINK = Link(delay_ms=DELAY_MS, jitter_ms=2.0)
DEADLINE_S = 30.0
ABOUT = """
import json, os, socket, time
before = time.monotonic_ns()
time.sleep(0.05)
print(json.dumps({
    "name": socket.gethostname(), "resolved": socket.gethostbyname(socket.gethostname()),
    "monotonic_ns": time.monotonic_ns(), "wall_ns": time.time_ns(),
    "slept_ns": time.monotonic_ns() - before,
    "boot_id": open("/proc/sys/kernel/random/boot_id").read(), "shm": os.listdir("/dev/shm"),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
}))
"""
ECHO = """
import socket
server = socket.create_server(("0.0.0.0", 7000))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    with connection:
        while (said := connection.recv(100)):
            connection.sendall(said)
"""
ASK = """
import socket, sys, time
deadline_s = float(sys.argv[1])
with socket.create_connection(("far", 7000), deadline_s) as connection:
    connection.settimeout(deadline_s)
    for _ in range(int(sys.argv[2])):
        before = time.perf_counter()
        connection.sendall(b"?")
        connection.recv(1)
        print(1000 * (time.perf_counter() - before))
"""
TAKE = """
import socket, sys, time
with socket.create_server(("0.0.0.0", 7001)) as server:
    print("listening", flush=True)
    for _ in range(int(sys.argv[1])):
        connection, _ = server.accept()
        with connection:
            size = len(connection.recv(1))
            began = time.perf_counter()
            while (piece := connection.recv(1 << 16)):
                size += len(piece)
            print(size, time.perf_counter() - began, flush=True)
"""
GIVE = """
import socket, sys
with socket.create_connection(("third", 7001), 20) as connection:
    connection.sendall(bytes(int(sys.argv[1])))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
"""
QUIETEST_OF = 4
"""What others do on this host can only make a cable look slower: the best of so many tries shows it."""


@pytest.fixture(scope="module")
def bed() -> Iterator[Machines]:
    machines = {
        "near": Machine(),
        "far": Machine(ClockFault(OFFSET_MS, DRIFT_PPM), FAR_LINK),
        "third": Machine(),
    }
    with Machines(machines) as made:
        yield made


def run(bed: Machines, name: str, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = bed.on(name, [sys.executable, "-c", code, *arguments])
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def test_a_machine_has_its_own_name_address_processes_memory_and_boot_id(bed: Machines) -> None:
    near, far = (json.loads(run(bed, name, ABOUT).stdout) for name in ("near", "far"))
    assert (near["name"], far["name"]) == ("near", "far")
    assert (near["resolved"], far["resolved"]) == (bed.addresses["near"], bed.addresses["far"])
    assert len({near["boot_id"], far["boot_id"], Path("/proc/sys/kernel/random/boot_id").read_text()}) == 3
    assert near["shm"] == far["shm"] == []
    assert len(near["processes"]) <= 3, "its init, and who asks"


def test_a_clock_is_as_wrong_as_asked_and_what_is_true_is_known(bed: Machines) -> None:
    clock = bed.clocks["far"]
    before_ns, before_wall_ns = time.monotonic_ns(), time.time_ns()
    about = json.loads(run(bed, "far", ABOUT).stdout)
    after_ns, after_wall_ns = time.monotonic_ns(), time.time_ns()
    assert before_ns <= clock.true_ns(about["monotonic_ns"]) <= after_ns
    # The drift is the same for both: what they show more than the time that has passed.
    ahead_ns = about["monotonic_ns"] - clock.true_ns(about["monotonic_ns"])
    assert before_wall_ns <= about["wall_ns"] - ahead_ns <= after_wall_ns
    assert ahead_ns > OFFSET_MS * 1e6, "it drifts"
    assert about["slept_ns"] >= 0.05e9, "who sleeps until a time sleeps until then, by the same clock"


def test_a_jump_is_seen_by_whoever_runs(bed: Machines) -> None:
    watch = (
        "import time\nprint(time.monotonic_ns(), flush=True)\ninput()\nprint(time.monotonic_ns(), flush=True)"
    )
    command = bed.on("third", [sys.executable, "-c", watch])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        before_ns = int(watching.stdout.readline())
        bed.clocks["third"].jump(3_600_000)
        said, _ = watching.communicate("\n", timeout=DEADLINE_S)
    assert int(said) - before_ns > 3600e9
    bed.clocks["third"].jump(-3_600_000)


@contextmanager
def listening(bed: Machines, name: str, code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = bed.on(name, [sys.executable, "-c", code, *arguments])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        yield process


def times_there_and_back_ms(bed: Machines, count: int) -> list[float]:
    """There it goes at once; back it takes the far end's delay."""
    took_ms = sorted(float(line) for line in run(bed, "near", ASK, "20", str(count)).stdout.split())
    assert len(took_ms) == count
    return took_ms


def test_a_cable_delays_and_is_cut_and_healed(bed: Machines) -> None:
    with listening(bed, "far", ECHO) as echo:
        assert times_there_and_back_ms(bed, 5)[0] >= DELAY_MS - 2.0

        bed.cut("far")
        dropped = bed.carried("near").dropped
        cut = run(bed, "near", ASK, "1", "5")
        assert cut.returncode != 0
        assert "timed out" in cut.stderr
        assert bed.carried("near").dropped > dropped

        bed.heal("far")
        assert len(times_there_and_back_ms(bed, 5)) == 5
        echo.terminate()
        assert echo.wait(DEADLINE_S) == -signal.SIGTERM, "a signal goes through, and so does how it ended"


def test_a_cable_delays_by_no_more_than_it_is_told_and_jitter_spreads_to_both_sides(bed: Machines) -> None:
    try:
        with listening(bed, "far", ECHO) as echo:
            bed.link("far", Link(delay_ms=DELAY_MS))
            steady_ms = times_there_and_back_ms(bed, 20)
            bed.link("far", Link(delay_ms=DELAY_MS, jitter_ms=15.0))
            spread_ms = times_there_and_back_ms(bed, 60)
            echo.terminate()
    finally:
        bed.link("far", FAR_LINK)
    assert DELAY_MS <= steady_ms[0] < DELAY_MS + 5.0
    # Drawn evenly from 5 to 35 ms: the host can make it later, never earlier.
    assert DELAY_MS - 15.0 <= spread_ms[0] < DELAY_MS - 8.0
    assert spread_ms[len(spread_ms) // 4] < DELAY_MS - 2.0, "a quarter is below 12.5 ms"
    assert spread_ms[len(spread_ms) // 2] > DELAY_MS - 5.0, "and half of it above the delay"
    assert spread_ms[3 * len(spread_ms) // 4] > DELAY_MS + 2.0


def test_a_cable_carries_no_more_than_its_bandwidth_and_no_less(bed: Machines) -> None:
    size, bytes_per_s = 300_000, 200_000
    bed.link("near", Link(bytes_per_s=bytes_per_s))
    took_s: list[float] = []
    try:
        with listening(bed, "third", TAKE, str(QUIETEST_OF)) as taking:
            assert taking.stdout is not None
            while len(took_s) < QUIETEST_OF and not (took_s and min(took_s) < 1.2 * size / bytes_per_s):
                assert run(bed, "near", GIVE, str(size)).returncode == 0
                came, took = taking.stdout.readline().split()
                assert int(came) == size
                took_s.append(float(took))
            taking.terminate()
    finally:
        bed.link("near", Link())
    # The first piece is there when the clock is started; headers of every frame are carried, too.
    assert min(took_s) > 0.95 * size / bytes_per_s
    assert min(took_s) < 1.2 * size / bytes_per_s


def test_what_is_lost_is_counted(bed: Machines) -> None:
    send = (
        "import socket\nmouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for _ in range(2000): mouth.sendto(b'?', ('near', 9))"
    )
    bed.link("third", Link(loss=0.2))
    before = bed.carried("third")
    assert run(bed, "third", send).returncode == 0
    wait_for(lambda: bed.carried("third").sent - before.sent >= 1500)
    carried = bed.carried("third")
    sent, lost = carried.sent - before.sent, carried.lost - before.lost
    assert 0.1 * sent < lost < 0.3 * sent
    bed.link("third", Link())


def test_a_small_disk_is_full_there_and_nowhere_else(bed: Machines, tmp_path: Path) -> None:
    bed.small_disk("third", tmp_path, 1 << 20)
    fill = f"open('{tmp_path}/filled', 'wb').write(bytes(4 << 20))"
    done = run(bed, "third", fill)
    assert "No space left on device" in done.stderr
    assert run(bed, "near", fill).returncode == 0
    assert os.path.getsize(tmp_path / "filled") == 4 << 20


def test_a_machine_that_is_switched_off_takes_its_processes_along() -> None:
    with Machines({"one": Machine()}) as bed:
        sleeping = subprocess.Popen(bed.on("one", ["sleep", "1000"]))
        bed.power_off("one")
        assert sleeping.wait(DEADLINE_S) != 0


def test_nothing_is_left_when_who_made_them_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    code = (
        "import subprocess, time\n"
        "from streamgauge.testing.machines.bed import Machine, Machines\n"
        "with Machines({'one': Machine(), 'other': Machine()}) as bed:\n"
        "    inside = [subprocess.Popen(bed.on(n, ['sleep', '1000'])).pid for n in ('one', 'other')]\n"
        "    time.sleep(0.2)\n"
        f"    open('{told}', 'w').write('done')\n"
        "    time.sleep(1000)\n"
    )
    maker = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)})
    wait_for(told.exists)
    family = psutil.Process(maker.pid).children(recursive=True)
    assert len(family) >= 2 * 3 + 1
    maker.kill()
    maker.wait()
    _, alive = psutil.wait_procs(family, timeout=DEADLINE_S)
    assert alive == []


def test_how_many_machines_there_can_be_is_said() -> None:
    with pytest.raises(BadInput, match="0 machines: there can be 1 to 64"):
        Machines({})
