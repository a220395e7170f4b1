"""Lightstreamer's own Node client: installed once into the cache, driven line by line from the test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.folders import cache_folder

from .python_client import Notes, Server
from .running import ADAPTER_SET, DEADLINE_S

_VERSION = "9.2.2"
_SCRIPT = Path(__file__).parent / "node_client.js"
# Of its dependencies one is named by a git repository, which registries do not have.
_PACKAGE = {
    "private": True,
    "dependencies": {"lightstreamer-client-node": _VERSION},
    "overrides": {"xmlhttprequest": "1.8.0"},
}
_INSTALL_DEADLINE_S = 300


def node_modules() -> Path:
    """Where the client is; it is installed when it is not there yet. Without Node there is no test."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node.js is not installed (apt-get install nodejs npm)")
    folder = cache_folder() / f"lightstreamer-client-node-{_VERSION}"
    if not (folder / "node_modules" / "lightstreamer-client-node").is_dir():
        partly = folder.with_name(f"{folder.name}-{os.getpid()}")
        shutil.rmtree(partly, ignore_errors=True)
        partly.mkdir(parents=True)
        (partly / "package.json").write_text(json.dumps(_PACKAGE))
        subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
            cwd=partly,
            check=True,
            timeout=_INSTALL_DEADLINE_S,
        )
        if not folder.exists():
            partly.rename(folder)
    return folder / "node_modules"


class NodeClient:
    """A client in a process of its own; what it is told is in `notes`, as from its listeners."""

    def __init__(self, server: Server, options: dict[str, Any]) -> None:
        environment = {**os.environ, "NODE_PATH": str(node_modules())}
        self._process = subprocess.Popen(
            ["node", str(_SCRIPT), server.address, ADAPTER_SET, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.notes = Notes()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def order(self, what: str, **details: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, **details}) + "\n")
        self._process.stdin.flush()

    def follow(self, name: str, mode: str, items: list[str], fields: list[str], **options: str) -> None:
        """`name`: what the subscription is called in the notes."""
        self.order("subscribe", name=name, mode=mode, items=items, fields=fields, options=options)
        self.wait_for(name, "subscribed")

    def wait_for(self, *note: object) -> None:
        self.notes.wait(lambda told: list(note) in told)

    def wait_for_state(self, state: str, times: int = 1) -> None:
        self.notes.wait(lambda told: told.count(["", "status", state]) >= times)

    def wait_for_rows(self, name: str, count: int) -> None:
        self.notes.wait(lambda told: sum(note[:2] == [name, "update"] for note in told) >= count)  # type: ignore[index]

    def noted(self, name: str, kind: str) -> list[list[Any]]:
        """What a subscription was told of one kind; `name`, `kind` and what belongs to it."""
        return [note for note in self.notes.all() if note[:2] == [name, kind]]  # type: ignore[index, misc]

    def rows(self, name: str) -> list[list[str | None]]:
        return [note[4] for note in self.notes.all() if note[:2] == [name, "update"]]  # type: ignore[index]

    def wait_for_value(self, name: str, value: str, field: int = 0) -> list[list[str | None]]:
        self.notes.wait(
            lambda told: any(note[:2] == [name, "update"] and note[4][field] == value for note in told)  # type: ignore[index]
        )
        return self.rows(name)

    def end(self) -> None:
        if self._process.poll() is None:
            self.order("disconnect")
        try:
            self._process.wait(DEADLINE_S)
        finally:
            self._process.kill()
            self._reader.join(DEADLINE_S)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.notes.add(json.loads(line))


@contextmanager
def connected(server: Server, **options: Any) -> Iterator[NodeClient]:
    client = NodeClient(server, options)
    try:
        client.notes.wait(lambda told: any(str(note[2]).startswith("CONNECTED:") for note in told))  # type: ignore[index]
        yield client
    finally:
        client.end()
