"""Whether a follower is of the launcher's version: half of what it runs is its own, half is ours."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from streamgauge.core.errors import BadInput

VERSION_VARIABLE = "STREAMGAUGE_FOLLOWER_VERSION"
"""Of the streamgauge that a follower was started with, in the environment of everything that runs on it."""
OLD = "of old"
"""What is said of a version that does not tell itself: 0.2 and before."""


def own_version() -> str:
    """As installed here; a task finds our archive, which says nothing of the host."""
    try:
        return version("streamgauge")
    except PackageNotFoundError:
        return "unknown"


def check_same_version(of_launcher: str) -> None:
    """On a follower, by whoever is to run there; BadInput names it."""
    from streamgauge.core.environment import FOLLOWER_VARIABLE, host_name  # who tells flags needs no psutil

    # Followers have named themselves for longer than they have told their version.
    own = os.environ.get(VERSION_VARIABLE, OLD if FOLLOWER_VARIABLE in os.environ else of_launcher)
    if own != of_launcher:
        raise BadInput(
            f"follower {host_name()} has streamgauge {own} and the launcher {of_launcher}: "
            "install the same on both"
        )
