"""How properties are checked: no example has a time limit, since nothing in a unit test is timed."""

from __future__ import annotations

from hypothesis import settings

untimed = settings(deadline=None)
few_untimed = settings(untimed, max_examples=40)
"""For examples that write files."""
