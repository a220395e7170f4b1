"""The loops once more, built with AddressSanitizer: no byte beside a buffer is read or written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import streamgauge.native
from tests.native.played_librdkafka import COMPILES
from tests.proof import PROOF

SOURCES = sorted(Path(streamgauge.native.__path__[0]).glob("*.c"))
ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("gcc") or shutil.which("cc") or ""
TESTS = (
    "tests/native/test_rows.py",
    "tests/payload/test_few.py",
    "tests/agents/test_noise_floor.py",
    "tests/drivers/kafka/confluent/test_native_producer.py",
    "tests/drivers/push/test_native_swarm.py",
    "tests/gateway/server/test_sending.py",
)
DEADLINE_S = 1800
PROGRAM = """
import importlib.machinery, importlib.util, sys
import streamgauge.native
loader = importlib.machinery.ExtensionFileLoader("streamgauge.native._loops", sys.argv[1])
spec = importlib.util.spec_from_loader(loader.name, loader)
module = importlib.util.module_from_spec(spec)
loader.exec_module(module)
sys.modules[loader.name] = streamgauge.native._loops = module
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not broker", *sys.argv[2:]]))
"""


@pytest.mark.proof
@pytest.mark.process
@pytest.mark.skipif(not PROOF, reason="a proof: make proof")
@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
@pytest.mark.timeout(2 * DEADLINE_S)
def test_no_byte_beside_a_buffer_is_touched(tmp_path: Path) -> None:
    built = tmp_path / "_loops.so"
    include = f"-I{sysconfig.get_path('include')}"
    flags = (
        "-shared",
        "-fPIC",
        "-g",
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
    )
    subprocess.run([COMPILER, *flags, include, *map(str, SOURCES), "-o", str(built)], check=True, timeout=120)
    found = subprocess.run(
        [COMPILER, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True, timeout=60
    )
    # Python's own allocator hides what it hands out; what Python never frees is no leak of ours.
    own = {
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "STREAMGAUGE_PROOF": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(built), f"--timeout={DEADLINE_S}", *TESTS],
        cwd=ROOT,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert " passed" in done.stdout
