"""Whether a follower is of the launcher's version: half of what it runs is its own, half is ours."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from streamgauge.core.errors import BadInput

VERSION_VARIABLE = "STREAMGAUGE_FOLLOWER_VERSION"
"""Of the streamgauge that a follower was started with, in the environment of everything that runs on it."""


def own_version() -> str:
    """As installed here; a task finds our archive, which says nothing of the host."""
    try:
        return version("streamgauge")
    except PackageNotFoundError:
        return "unknown"


def check_same_version(of_launcher: str) -> None:
    """On a follower, by whoever is to run there; BadInput names it."""
    own = os.environ.get(VERSION_VARIABLE)
    if own is not None and own != of_launcher:
        from streamgauge.core.environment import host_name  # who only tells flags needs no psutil

        raise BadInput(
            f"follower {host_name()} has streamgauge {own} and the launcher {of_launcher}: "
            "install the same on both"
        )
