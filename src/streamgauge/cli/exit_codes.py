"""Exit codes that are not an error's own."""

from __future__ import annotations

INTERRUPTED_EXIT_CODE = 130
"""What commands give when they were ended; the signal's own takes its place (SIGTERM's is 143)."""
