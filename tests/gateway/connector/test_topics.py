from __future__ import annotations

from streamgauge.gateway.connector.topics import TopicSelection


def test_named_topics() -> None:
    topics = TopicSelection(["b", "a.x", "gone"], patterns=False)
    existing = ["a.x", "aXx", "b", "c"]
    assert topics.among(existing) == ["a.x", "b"]
    assert topics.missing(existing) == ["gone"]
    assert not topics.may_grow
    assert str(topics) == "b, a.x, gone"


def test_patterns_fit_whole_names_and_none_of_kafkas_own() -> None:
    topics = TopicSelection([r"sensor_\d+", ".*off.*"], patterns=True)
    existing = ["sensor_1", "sensor_1x", "my_sensor_1", "offers", "__consumer_offsets"]
    assert topics.among(existing) == ["offers", "sensor_1"]
    assert topics.missing(existing) == []
    assert topics.may_grow
