from __future__ import annotations

import numpy as np

from streamgauge.recording.finishing import FINISHED, known


def test_what_is_not_known_becomes_null_and_what_is_all_known_is_not_copied() -> None:
    values = np.array([5, 0, 7])
    assert known(values, values < 0) is values
    assert known(values, values == 0).tolist() == [5, None, 7]


def test_each_table_says_what_stands_for_not_known() -> None:
    sends = {"partition": np.array([-1, 2]), "offset": np.array([3, -1]), "acked_ns": np.array([0, 9])}
    finished = FINISHED["sends"](sends)
    assert finished["partition"].tolist() == [None, 2]
    assert finished["offset"].tolist() == [3, None]
    assert finished["acked_ns"].tolist() == [None, 9]
    assert finished["error"] is None
    receives = {"broker_ms": np.array([1, 2]), "broker_time": np.array([0, 2], np.int8)}
    assert FINISHED["receives"](receives)["broker_ms"].tolist() == [None, 2]
