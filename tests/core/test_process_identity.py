from __future__ import annotations

import os

from streamgauge.core.process_identity import own_start_s, still_runs


def test_a_process_is_known_by_its_id_and_its_start() -> None:
    assert still_runs(os.getpid(), own_start_s())
    assert not still_runs(os.getpid(), own_start_s() - 60), "another one had this id before"
    assert not still_runs(2**22 + 1, own_start_s())
