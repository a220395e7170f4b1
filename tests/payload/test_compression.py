from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.payload.compression import compression_ratio
from streamgauge.payload.making import MessageMaker
from streamgauge.spec.load import Message

from .samples import TAG


def one_by_one(spec: Message, count: int) -> bytes:
    """As a paced producer sends them."""
    maker = MessageMaker(spec, TAG, 0)
    return b"".join(maker.make(k, np.array([k * 1_000_000])).values[0] for k in range(count))


@pytest.mark.parametrize("codec", ["lz4", "snappy", "gzip", "zstd"])
def test_random_bodies_sent_one_by_one_do_not_compress(codec: str) -> None:
    """With one body for all, zstd made 39 of 1."""
    sent = one_by_one(Message(size=1024), 2000)
    assert len(sent) / len(pa.Codec(codec).compress(sent, asbytes=True)) < 1.05


@pytest.mark.parametrize("size", [200, 700, 1024, 100_000])
@pytest.mark.parametrize("asked", [1.5, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("codec", ["lz4", "gzip", "zstd"])
def test_the_ratio_asked_for_is_reached(size: int, asked: float, codec: str) -> None:
    reached = compression_ratio(Message(size=size, compressibility=asked), TAG, codec)
    assert reached == pytest.approx(asked, rel=0.15 if size > 200 else 0.4)


def test_small_values_reach_what_their_header_allows() -> None:
    asked = [compression_ratio(Message(size=100, compressibility=ratio), TAG, "zstd") for ratio in (0, 2, 50)]
    nothing, two, most = (ratio or 0.0 for ratio in asked)
    assert nothing < 1.3
    assert two == pytest.approx(2, rel=0.15)
    assert 5 < most < 50


def test_messages_whose_header_travels_elsewhere_compress_as_asked_too() -> None:
    spec = Message(size=500, compressibility=4, header_in="key")
    assert compression_ratio(spec, TAG, "zstd") == pytest.approx(4, rel=0.15)


def test_without_a_codec_there_is_no_ratio() -> None:
    assert compression_ratio(Message(), TAG, "none") is None
    assert compression_ratio(Message(size=0, header_in="key"), TAG, "zstd") is None


def test_of_large_messages_a_sample_of_a_batch_is_compressed() -> None:
    assert compression_ratio(Message(size=3_000_000), TAG, "lz4") == pytest.approx(1, abs=0.01)
