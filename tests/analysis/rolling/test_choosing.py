"""Which event files a roll-up looks at."""

from __future__ import annotations

from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.analysis.rolling.choosing import choose, event_files


def group(name: str, low: int, high: int, rows: int = 100) -> RowGroup:
    table = "sends" if name.startswith("producer") else "receives"
    due_ns = (low, high) if table == "sends" else None
    return RowGroup(
        table, "001", f"events/{table}/case=001/{name}.parquet", 0, rows, (0, 0), (low, high), due_ns
    )


SENT = [group(f"producer-0-{n:05d}", 100 * n, 100 * n + 99) for n in range(5)]
READ = [group(f"consumer-0-{n:05d}", 100 * n - 10, 100 * n + 89) for n in range(5)]


def names(files: object) -> list[str]:
    return [file.path.rpartition("/")[2].removesuffix(".parquet") for file in files]  # type: ignore[attr-defined]


def test_the_oldest_sends_go_with_all_that_was_read_up_to_them() -> None:
    chosen = choose(event_files([*SENT, *READ]), 250, 1000, 10_000)
    assert chosen is not None
    assert names(chosen.sends) == ["producer-0-00000", "producer-0-00001"]
    assert names(chosen.receives) == ["consumer-0-00000", "consumer-0-00001", "consumer-0-00002"]


def test_no_more_than_fits() -> None:
    chosen = choose(event_files([*SENT, *READ]), 10_000, 150, 10_000)
    assert chosen is not None
    assert names(chosen.sends) == ["producer-0-00000"]
    assert choose(event_files([*SENT, *READ]), 10_000, 1000, 250) is None


def test_what_nobody_can_have_read_yet_waits() -> None:
    chosen = choose(event_files([*SENT, *READ[:2]]), 10_000, 1000, 10_000)
    assert chosen is not None
    assert names(chosen.sends) == ["producer-0-00000"]


def test_what_is_left_is_looked_at_again_but_not_alone() -> None:
    rest = group("producer-0-00000r00001", 3, 7, 5)
    read = group("consumer-0-00000r00001", 0, 99, 4)
    assert choose(event_files([rest, read]), 10_000, 1000, 10_000) is None
    chosen = choose(event_files([rest, read, *SENT[1:], *READ[1:]]), 199, 1000, 10_000)
    assert chosen is not None
    assert names(chosen.sends) == ["producer-0-00000r00001", "producer-0-00001"]
    assert names(chosen.receives) == ["consumer-0-00000r00001", "consumer-0-00001", "consumer-0-00002"]


def test_what_was_closed_or_salvaged_is_left_alone() -> None:
    others = [group("producer-0-00000k00001", 0, 9), group("producer-0-salvaged", 0, 9)]
    assert event_files(others) == []
