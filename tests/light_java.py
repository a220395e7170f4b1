"""What brokers of tests are told that nobody measures."""

from __future__ import annotations

LIGHT_JAVA = ("-XX:TieredStopAtLevel=1",)
"""Do not compile for speed: that takes more CPU than it ever saves in a test."""
