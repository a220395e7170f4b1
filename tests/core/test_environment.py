from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path

import pytest

from streamgauge.core import environment
from streamgauge.core.environment import describe_machine


def test_the_machine_is_described_in_plain_json() -> None:
    described = describe_machine()
    assert json.loads(json.dumps(described)) == described
    assert described["cores"] == os.cpu_count()
    assert described["memory_bytes"] > 1 << 20
    assert described["python"] == platform.python_version()
    assert platform.release() in described["kernel"]


def test_versions_of_what_measures_are_there() -> None:
    versions = describe_machine()["versions"]
    assert {"streamgauge", "confluent-kafka", "pyspark", "pyarrow", "numpy"} <= set(versions)
    assert versions["numpy"] == sys.modules["numpy"].__version__


def test_a_package_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_PACKAGES", ("numpy", "no-such-package"))
    versions = describe_machine()["versions"]
    assert versions["no-such-package"] is None
    assert versions["numpy"] is not None


def test_a_machine_without_cpuinfo_still_has_a_name_for_its_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "Path", lambda _: tmp_path / "no-cpuinfo")
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert describe_machine()["cpu"] == "unknown"


def test_the_cpu_is_named_as_the_kernel_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Abacus 9000: fast\n")
    monkeypatch.setattr(environment, "Path", lambda _: tmp_path / "cpuinfo")
    assert describe_machine()["cpu"] == "Abacus 9000: fast"


def test_what_people_turn_before_they_measure_is_noted() -> None:
    found = describe_machine()
    assert found["distribution"] is None or found["distribution"]
    assert found["swap_bytes"] >= 0
    assert found["disk"].get("file_system")
    assert found["sysctls"]["net.core.rmem_max"].isdigit()
    assert json.loads(json.dumps(found)) == found
