"""The items of one source: what is subscribed, and in which modes. It is the source's listener."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from streamgauge.gateway.protocol.codes import ControlCode
from streamgauge.gateway.protocol.commands import Mode
from streamgauge.gateway.protocol.feeds import Feed, new_feed
from streamgauge.gateway.server.contract import Source, UnknownItem
from streamgauge.gateway.server.metrics import Counters

LOGGER = logging.getLogger("streamgauge.gateway")


class Items:
    """`published`: called after events, to have them sent. `failed`: the source is gone, with these feeds."""

    def __init__(
        self,
        source: Source,
        counters: Counters,
        *,
        remembered: int,
        published: Callable[[], None],
        failed: Callable[[set[Feed]], None],
    ) -> None:
        self._source, self._counters, self._remembered = source, counters, remembered
        self._published, self._failed = published, failed
        self._feeds: dict[str, dict[Mode, Feed]] = {}
        self._names: dict[Feed, tuple[str, Mode]] = {}

    def check(self, item: str, mode: Mode, fields: tuple[str, ...]) -> None:
        """Raises UnknownItem for what the source says it cannot deliver."""
        if mode not in self._source.modes(item):
            raise UnknownItem(ControlCode.BAD_MODE, f"{item} cannot be subscribed in {mode} mode")
        known = self._source.schema(item)
        if known and not {*known, "key", "command"}.issuperset(fields):
            unknown = next(field for field in fields if field not in (*known, "key", "command"))
            raise UnknownItem(ControlCode.BAD_SCHEMA, f"{item} has no field {unknown}")

    def prepare(self, items: Sequence[str], ready: Callable[[], None]) -> bool:
        """Whether these can be subscribed at once; else `ready` is called when they can."""
        return self._source.prepare(items, ready)

    def feed(self, item: str, mode: Mode) -> Feed:
        """Subscribe an item at its source if nobody has yet; raises UnknownItem."""
        by_mode = self._feeds.get(item)
        if by_mode is not None and mode in by_mode:
            return by_mode[mode]
        feed = new_feed(
            mode, snapshot_expected=self._source.snapshot_available(item), remembered=self._remembered
        )
        if by_mode is not None:
            # The source tells the end of its snapshot once; who comes in another mode will not hear it.
            feed.snapshot_complete = all(other.snapshot_complete for other in by_mode.values())
        self._feeds.setdefault(item, {})[mode] = feed
        self._names[feed] = item, mode
        if by_mode is None:
            try:
                self._source.subscribe(item)
            except BaseException:
                self._forget(feed)
                raise
        return feed

    def prune(self, feed: Feed) -> None:
        """Unsubscribe an item at its source when nobody follows it any more."""
        if not feed.followers and feed in self._names:
            item, _ = self._names[feed]
            self._forget(feed)
            if item not in self._feeds:
                self._source.unsubscribe(item)

    def __contains__(self, feed: Feed) -> bool:
        return feed in self._names

    def __len__(self) -> int:
        return len(self._feeds)

    # What the source calls.

    def publish(self, item: str, fields: Mapping[str, str | None], *, snapshot: bool = False) -> None:
        feeds = self._feeds.get(item)
        if feeds is not None:
            self._counters.events += 1
            now_ns = time.monotonic_ns()
            for feed in feeds.values():
                feed.publish(fields, now_ns)
            self._published()

    def clear_snapshot(self, item: str) -> None:
        for feed in self._feeds.get(item, {}).values():
            feed.clear(time.monotonic_ns())
        self._published()

    def end_of_snapshot(self, item: str) -> None:
        for feed in self._feeds.get(item, {}).values():
            feed.end_of_snapshot()
        self._published()

    def source_failed(self, why: str) -> None:
        LOGGER.error("a source has failed, and its subscriptions end: %s", why)
        feeds = set(self._names)
        self._feeds.clear()
        self._names.clear()
        self._failed(feeds)

    def _forget(self, feed: Feed) -> None:
        item, mode = self._names.pop(feed)
        by_mode = self._feeds[item]
        del by_mode[mode]
        if not by_mode:
            del self._feeds[item]
