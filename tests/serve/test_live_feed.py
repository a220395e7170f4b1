"""However many look on: the run is looked at once a second, and all get the same bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from streamgauge.serve.live_feed import LiveFeeds
from streamgauge.serve.live_look import LiveLook
from streamgauge.serve.requests import Flow, Refused

from .asking import Browser, header, made_app
from .live_run import NAME, LiveRun

VIEWERS, LOOKS = 50, 5


def content(chunk: bytes) -> dict[str, Any]:
    """Of an event in an HTTP chunk."""
    size, _, rest = chunk.partition(b"\r\n")
    event = rest[: int(size, 16)]
    assert event.startswith(b"data: ")
    found: dict[str, Any] = json.loads(event.removeprefix(b"data: "))
    return found


async def heard(chunks: AsyncGenerator[bytes, None], count: int) -> list[bytes]:
    found = []
    async for chunk in chunks:
        found.append(chunk)
        if len(found) == count:
            break
    await chunks.aclose()
    return found


def test_fifty_viewers_cost_one_look_each_time(tmp_path: Path) -> None:
    live = LiveRun(tmp_path)
    made: list[LiveLook] = []

    def make() -> LiveLook:
        made.append(LiveLook(live.run))
        return made[-1]

    async def watch() -> tuple[list[list[bytes]], int]:
        feeds = LiveFeeds(VIEWERS, every_s=0.05)
        feed = feeds.of(NAME, make)
        viewers = [feed.follow() for _ in range(VIEWERS)]
        found = await asyncio.gather(*(heard(viewer, LOOKS + 2) for viewer in viewers))
        looks = feed.looks
        await feeds.close()
        return found, looks

    found, looks = asyncio.run(watch())
    assert len(made) == 1
    # All began together: first that they may come again, then all that is known, then what is new.
    assert looks <= LOOKS + 2, f"{looks} looks for {VIEWERS} viewers"
    first, *others = found
    assert others == [first] * (VIEWERS - 1), "the same to everybody"
    assert all(chunk is first[2] for chunk in (other[2] for other in others)), "made once"


def test_who_comes_later_has_what_came_before(tmp_path: Path) -> None:
    live = LiveRun(tmp_path)

    async def watch() -> tuple[dict[str, Any], int]:
        feeds = LiveFeeds(5, every_s=0.02)
        feed = feeds.of(NAME, lambda: LiveLook(live.run, lambda: 0.0))
        live.tell("producer-0", "sent", 1, 100, at_s=0.0)
        await heard(feed.follow(), 9)
        _, whole = await heard(feed.follow(), 2)
        count = feed.looks
        await feeds.close()
        return content(whole), count

    whole, looks = asyncio.run(watch())
    assert len(whole["rows"]) >= 7
    assert looks >= 7


def test_the_end_of_the_run_is_the_end_of_the_feed(tmp_path: Path) -> None:
    live = LiveRun(tmp_path)

    async def watch() -> list[bytes]:
        feeds = LiveFeeds(5, every_s=0.02)
        feed = feeds.of(NAME, lambda: LiveLook(live.run))
        chunks = feed.follow()
        found = [await anext(chunks), await anext(chunks)]
        live.end()
        async with asyncio.timeout(60):
            found += [chunk async for chunk in chunks]
        assert feeds.of(NAME, lambda: LiveLook(live.run)) is not feed or not feed.is_done
        await feeds.close()
        return found

    last = content(asyncio.run(watch())[-1])
    assert (last["is_over"], last["state"]) == (True, "partial")


@pytest.mark.parametrize("breaks_at", ["the beginning", "a look", "telling"])
def test_a_fault_of_ours_ends_the_feed_for_everybody(
    tmp_path: Path, breaks_at: str, caplog: pytest.LogCaptureFixture
) -> None:
    """They had waited for a minute, before a page that stood still."""
    live = LiveRun(tmp_path)

    class Breaking(LiveLook):
        def look(self) -> dict[str, Any]:
            told = super().look()
            if breaks_at == "a look":
                raise ZeroDivisionError("a fault")
            return {**told, "state": object()}

    def make() -> LiveLook:
        if breaks_at == "the beginning":
            raise ZeroDivisionError("a fault")
        return Breaking(live.run)

    async def watch() -> list[bytes]:
        feeds = LiveFeeds(5, every_s=0.02)
        async with asyncio.timeout(30):
            found = [chunk async for chunk in feeds.of(NAME, make).follow()]
        await feeds.close()
        return found

    last = content(asyncio.run(watch())[-1])
    assert (last["is_over"], last["state"]) == (True, "gone")
    assert "streamgauge serve -d" in last["reason"]
    assert "looking at a run in progress" in caplog.text


def test_so_many_viewers_and_no_more(tmp_path: Path) -> None:
    live = LiveRun(tmp_path)

    async def watch() -> None:
        feeds = LiveFeeds(2, every_s=0.02)
        viewers = [feeds.of(NAME, lambda: LiveLook(live.run)).follow() for _ in range(2)]
        for viewer in viewers:
            await anext(viewer)
        with pytest.raises(Refused) as refused:
            feeds.of(NAME, lambda: LiveLook(live.run))
        assert refused.value.status is HTTPStatus.SERVICE_UNAVAILABLE
        await viewers[0].aclose()
        feeds.of(NAME, lambda: LiveLook(live.run))
        await viewers[1].aclose()
        await feeds.close()

    asyncio.run(watch())


def test_the_page_of_a_run_in_progress_follows_it(tmp_path: Path) -> None:
    LiveRun(tmp_path / "runs")

    async def watch() -> tuple[str, str, Flow]:
        app = made_app(tmp_path / "runs", every_s=0.02)
        browser = Browser(app)
        moved = await browser.get(f"/runs/{NAME}")
        page = await browser.get(f"/runs/{NAME}/live")
        flow = await app(browser.request("GET", f"/runs/{NAME}/live/events"))
        assert isinstance(flow, Flow)
        await heard(flow.chunks, 3)
        await app.close()
        return header(moved, "location"), page.body.decode(), flow

    moved, page, flow = asyncio.run(watch())
    assert moved == f"/runs/{NAME}/live"
    assert f'data-live="/runs/{NAME}/live/events"' in page
    assert "Stop the run" not in page, "it was not started here"
    assert flow.content_type == "text/event-stream"
    assert "default-src 'none'" in header(flow, "content-security-policy")
