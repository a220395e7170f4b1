"""Redis Streams: XADD in batches, XREAD that blocks; redis-py makes and removes, `wire` moves messages.

A partition is a stream. An entry's id is the server's millisecond and a count within it; both in one
number are its offset, which grows but has gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Producer, ProducerOptions
from streamgauge.drivers.redis.clients import RedisConsumer, RedisProducer, end_of, stream_key
from streamgauge.drivers.server_address import parse_address
from streamgauge.drivers.server_driver import ServerDriver
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_Answer = TypeVar("_Answer")

_PORT = 6379
_ADMIN_S = 15.0
_NO_KEY = "no such key"


class Settings(SpecModel):
    url: str | None = None
    """Address of a Redis or Valkey server, redis://host:port; by default that of the system."""


class RedisStreams(ServerDriver):
    name = "redis_streams"
    server = "Redis"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(target, endpoints)
        url = self._given_address
        self._address = parse_address(url, "redis", _PORT, self._where, target.client)
        if self._address.path and not self._address.path.isdecimal():
            raise BadInput(f"{self._where}: {url}: databases have numbers; allowed: redis://host:port/number")
        self._admin: Any = None

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        about = self._asked(lambda admin: admin.info("server"), min(deadline_s, _ADMIN_S))
        kind = "valkey" if "valkey_version" in about else "redis"
        kept = self._durability()
        if kept.get("appendonly") == "no":
            # Of this server only: it answers before anything is anywhere but in its memory.
            self.capabilities = replace(type(self).capabilities, durable=False)  # type: ignore[misc]
        return {f"{kind}-server": str(about[f"{kind}_version"]), "redis-py": version("redis"), **kept}

    def _durability(self) -> dict[str, str]:
        """A server that somebody else runs may not tell."""
        try:
            found = self._connected().config_get("append*")
        except redis.exceptions.ResponseError:
            return {"appendonly": "not told"}
        return {name: str(found.get(name, "not told")) for name in ("appendonly", "appendfsync")}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        """There is nothing to make: a stream is there with its first entry."""
        if topics.replicas > 1:
            raise BadInput(
                f"load.topics.replicas: {topics.replicas}: one Redis server keeps one copy; allowed: 1"
            )
        self._partitions = topics.partitions
        made = []
        for name in names:
            kinds = self._kinds(name)
            if wrong := kinds - {b"stream", b"none"}:
                raise BadInput(
                    f"topic {name}: Redis holds a {wrong.pop().decode()} by that name, not a stream"
                )
            if kinds == {b"none"}:
                made.append(name)
        return made

    def _kinds(self, name: str) -> set[bytes]:
        return self._asked(lambda admin: {admin.type(key) for key in self._keys(name)})

    def remove_topics(self, names: list[str]) -> None:
        keys = [key for name in names for key in self._keys(name)]
        if keys:
            self._asked(lambda admin: admin.unlink(*keys))

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return {
            (number, partition): self._end(stream_key(name, partition))
            for number, name in enumerate(topics)
            for partition in range(partitions)
        }

    def _end(self, key: str) -> int:
        try:
            about = self._asked(lambda admin: admin.xinfo_stream(key))
        except Unreachable as error:
            if _NO_KEY in str(error):
                return 0
            raise
        return end_of(about["last-generated-id"])

    def producer(self, options: ProducerOptions) -> Producer:
        return RedisProducer(self._address, options, self._partitions)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return RedisConsumer(self._address, options)

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def _keys(self, name: str) -> list[str]:
        return [stream_key(name, partition) for partition in range(self._partitions)]

    def _connected(self, deadline_s: float = _ADMIN_S) -> Any:
        if self._admin is None:
            address = self._address
            self._admin = redis.Redis(
                host=address.host,
                port=address.port,
                db=int(address.path or 0),
                username=address.username,
                password=address.password,
                socket_timeout=deadline_s,
                socket_connect_timeout=deadline_s,
                # What is not there is said at once.
                retry=Retry(NoBackoff(), 0),
            )
        return self._admin

    def _asked(self, ask: Callable[[Any], _Answer], deadline_s: float = _ADMIN_S) -> _Answer:
        try:
            return ask(self._connected(deadline_s))
        except redis.exceptions.RedisError as error:
            raise Unreachable(f"Redis at {self._address}: {str(error) or type(error).__name__}") from None
