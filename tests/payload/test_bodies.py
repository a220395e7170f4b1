from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.payload import bodies
from streamgauge.payload.bodies import fixed_count, make_bodies
from streamgauge.payload.header import HEADER_BYTES
from streamgauge.spec.load import Message

from ..core.properties import untimed


def bodies_of(seed: int = 1, **message: Any) -> list[bytes]:
    return make_bodies(Message.model_validate(message), np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("message", "size"),
    [
        ({"size": 100}, 100 - HEADER_BYTES),
        ({"size": 32}, 0),
        ({"size": 31}, 31),
        ({"size": 0}, 0),
        ({"size": 100, "header_in": "key"}, 100),
        ({"size": 100, "header_in": "headers"}, 100),
    ],
)
def test_a_body_is_the_value_without_the_header_it_carries(message: dict[str, Any], size: int) -> None:
    made = bodies_of(**message)
    assert len(made) == fixed_count(message["size"])
    assert {len(body) for body in made} == {size}


def test_bodies_differ_and_do_not_compress() -> None:
    made = bodies_of(size=132)
    assert len(set(made)) == len(made)
    assert len(set(b"".join(made))) == 256


def test_the_same_seed_makes_the_same_bodies() -> None:
    assert bodies_of(size=100) == bodies_of(size=100)
    assert bodies_of(size=100) != bodies_of(seed=2, size=100)


@given(
    st.sampled_from(["uniform", "normal", "lognormal"]),
    st.integers(0, 300),
    st.integers(0, 300),
    st.integers(1, 500),
    st.integers(1, 500),
)
@untimed
def test_drawn_sizes_stay_within_their_bounds(law: str, least: int, span: int, mean: int, sd: int) -> None:
    size = {"distribution": law, "min": least, "max": least + span, "mean": mean, "sd": sd}
    carried = HEADER_BYTES if least >= HEADER_BYTES else 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_DRAWN_COUNT", 64)
        lengths = {len(body) + carried for body in bodies_of(size=size)}
    assert least <= min(lengths) <= max(lengths) <= least + span


@pytest.mark.parametrize("law", ["normal", "lognormal"])
def test_drawn_sizes_have_the_mean_and_deviation_asked_for(law: str) -> None:
    size = {"distribution": law, "min": 0, "max": 4000, "mean": 1000, "sd": 200}
    lengths = np.array([len(body) for body in bodies_of(size=size)])
    assert lengths.mean() == pytest.approx(1000, rel=0.02)
    assert lengths.std() == pytest.approx(200, rel=0.05)


def test_uniform_sizes_reach_both_ends() -> None:
    lengths = {len(body) for body in bodies_of(size={"distribution": "uniform", "min": 0, "max": 9})}
    assert lengths == set(range(10))


@pytest.mark.parametrize("size", [100, 1024, 10_240])
def test_bodies_come_again_behind_the_reach_of_a_codec(size: int) -> None:
    assert fixed_count(size) >= 2000
    assert fixed_count(size) * size >= 4_000_000


def test_large_sizes_do_not_fill_the_memory() -> None:
    assert sum(map(len, bodies_of(size=1 << 20))) <= 64 << 20


def test_large_drawn_sizes_do_not_fill_the_memory() -> None:
    size = {"distribution": "uniform", "min": 1 << 19, "max": 1 << 20}
    assert sum(map(len, bodies_of(size=size))) <= 64 << 20


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\n\nb\n", [b"a", b"", b"b"]),
        (b"\n", [b""]),
        (b"\xff\x00\n", [b"\xff\x00"]),
    ],
)
def test_lines_of_a_file_are_bodies(tmp_path: Path, content: bytes, lines: list[bytes]) -> None:
    (tmp_path / "lines").write_bytes(content)
    assert bodies_of(size={"lines_of": str(tmp_path / "lines")}) == lines


def test_a_file_without_lines_is_named(tmp_path: Path) -> None:
    (tmp_path / "lines").touch()
    with pytest.raises(BadInput, match=r"^load\.message\.size\.lines_of: .*lines: has no lines$"):
        bodies_of(size={"lines_of": str(tmp_path / "lines")})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^load\.message\.size\.lines_of: .*none: No such file or directory$"):
        bodies_of(size={"lines_of": str(tmp_path / "none")})
