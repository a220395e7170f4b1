from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir

from .chromium import Chromium
from .sample_run import single_run, sweep_run, transports_run


@pytest.fixture
def one_case(tmp_path: Path) -> RunDir:
    return single_run(tmp_path / "one-case")


@pytest.fixture
def sweep(tmp_path: Path) -> RunDir:
    return sweep_run(tmp_path / "sweep")


@pytest.fixture
def transports(tmp_path: Path) -> RunDir:
    return transports_run(tmp_path / "transports")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as running:
        yield running
