"""The programs that the fan-out is measured with: other servers, and a swarm of clients; built first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.c_programs import build
from streamgauge.core.c_programs import NO_COMPILER

Peer = Literal["gateway", "centrifuge", "send_loop"]
PROTOCOLS: dict[Peer, str] = {"gateway": "tlcp", "centrifuge": "centrifuge", "send_loop": "bare"}
_SOURCES = Path(__file__).parent / "peers"
_BUILD_DEADLINE_S = 600
WRITE_DELAYS_MS = (20, 100, 200)
"""For Centrifuge where it collects messages: up to nearly all that a saturated server may take."""


@dataclass(frozen=True)
class Load:
    sessions: int
    per_s: float
    seconds: float
    size_bytes: int = 1024
    stalled: int = 0
    collect_ms: int = 0
    """How long Centrifuge collects messages for a write; the gateway decides by itself."""
    items: int = 1
    """Each with its own messages, to its share of the sessions."""


class Programs:
    """In a folder; `missing` says what cannot be built here, and why."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.missing: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("swarm", "send_loop"):
            if build(name, folder) is None:
                self.missing[name] = NO_COMPILER
        go = shutil.which("go")
        if go is None:
            self.missing["centrifuge"] = "no Go on PATH"
        else:
            self._build([go, "build", "-o", str(folder / "centrifuge"), "."], _SOURCES / "centrifuge")

    def swarm(self, port: int, sessions: int, peer: Peer, stalled: int, items: int) -> list[str]:
        program = str(self._folder / "swarm")
        return [program, str(port), str(sessions), PROTOCOLS[peer], str(stalled), str(items)]

    def server(self, peer: Peer, port: int, load: Load) -> list[str]:
        common = [str(port), str(load.per_s), str(load.size_bytes)]
        match peer:
            case "gateway":
                return [sys.executable, "-m", "bench.fanout_server", *common, str(load.items)]
            case "centrifuge":
                collecting = [str(load.collect_ms)] if load.collect_ms else []
                return [str(self._folder / "centrifuge"), *common, *collecting]
            case "send_loop":
                program = str(self._folder / "send_loop")
                return [program, str(port), str(load.sessions), *common[1:], str(load.items)]

    @staticmethod
    def _build(command: list[str], folder: Path) -> None:
        subprocess.run(command, cwd=folder, check=True, timeout=_BUILD_DEADLINE_S)
