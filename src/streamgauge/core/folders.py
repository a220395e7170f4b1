"""Where things live that outlast a run: downloads (cache) and the local cluster (state)."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """STREAMGAUGE_CACHE, else $XDG_CACHE_HOME/streamgauge, else ~/.cache/streamgauge."""
    return _folder("STREAMGAUGE_CACHE", "XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """STREAMGAUGE_STATE, else $XDG_STATE_HOME/streamgauge, else ~/.local/state/streamgauge."""
    return _folder("STREAMGAUGE_STATE", "XDG_STATE_HOME", ".local/state")


def _folder(own: str, xdg: str, below_home: str) -> Path:
    if chosen := os.environ.get(own):
        return Path(chosen).expanduser().absolute()
    # The XDG specification says to ignore a relative path.
    shared = os.environ.get(xdg, "")
    root = Path(shared) if os.path.isabs(shared) else Path.home() / below_home
    return root / "streamgauge"
