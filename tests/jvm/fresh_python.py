"""A Python process of its own: a process has one Java, and what it was started with holds for good."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_fresh(script: str, *arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Run the script; None takes a variable away. Whatever hangs ends the test."""
    chosen = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        cwd=Path(__file__).parent.parent.parent,
        env={name: value for name, value in chosen.items() if value is not None},
    )


NO_JAVA_INSTALLED: dict[str, str | None] = {
    "STREAMGAUGE_JAVA_HOME": None,
    "JAVA_HOME": None,
    "PATH": "/no-programs",
}
"""As on a machine with nothing but what pip installs."""
