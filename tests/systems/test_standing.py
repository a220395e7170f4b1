from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.systems import local_cluster
from streamgauge.systems.embedded_kafka import EmbeddedKafka
from streamgauge.systems.standing import standing_system


def test_it_is_that_of_the_system_which_is_meant_where_none_is_named() -> None:
    assert standing_system() is local_cluster


def test_a_kind_that_cannot_stay_up_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedKafka, "standing", lambda: None)
    with pytest.raises(BadInput, match="system kafka_cluster: none of its kind stays up between runs"):
        standing_system()
