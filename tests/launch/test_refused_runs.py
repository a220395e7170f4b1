"""A run whose target lets it do nothing: what there is to say is the error, and no folder is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from streamgauge.core.errors import CaseFailed, Refused, StreamgaugeError
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.launch.run_cycle import RunCycle
from streamgauge.spec.workload import Workload

CONTENT: dict[str, Any] = {
    "kind": "sweep",
    "name": "refused",
    "targets": [{"name": "t", "driver": "simulated"}],
    "load": {"messages": 10},
    "sweep": {"acks": ["1", "all"]},
}


def cycle_that_ends_with(
    errors: list[StreamgaugeError], out: Path, monkeypatch: pytest.MonkeyPatch
) -> RunCycle:
    """Of two cases, each of which ends so."""

    def end(self: RunCycle, afterwards: Any, roll_ups: Any) -> None:
        for case, error in zip(self.plan.cases, errors, strict=True):
            self._skip(case, error)
        raise errors[0]

    monkeypatch.setattr(RunCycle, "_run_targets", end)
    return RunCycle.new(
        Workload.model_validate(CONTENT),
        out=str(out),
        master=None,
        live=LiveWish(LiveMode.off),
        console=Console(quiet=True),
        show_progress=False,
        debug=False,
    )


def test_one_that_is_refused_everywhere_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cycle = cycle_that_ends_with([Refused("no"), Refused("no")], tmp_path, monkeypatch)
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(Refused, match="no"):
        cycle.measure(lambda session: None)
    assert cycle.is_refused
    assert not cycle.can_go_on
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_refused_in_part_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cycle = cycle_that_ends_with([Refused("no"), CaseFailed("broke")], tmp_path, monkeypatch)
    with pytest.raises(Refused):
        cycle.measure(lambda session: None)
    assert not cycle.is_refused
    assert (tmp_path / cycle.run.id / "status.json").exists()
