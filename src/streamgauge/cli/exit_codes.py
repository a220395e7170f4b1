"""Exit codes that are not an error's own."""

from __future__ import annotations

NOT_OK_EXIT_CODE = 1
"""Of a run: a case is not ok, or an objective is missed."""
NOT_DECIDABLE_EXIT_CODE = 5
"""Of a run that is ok: an objective is neither met nor missed, or a fault did not go as planned. Not a pass,
and no proof of the contrary."""
INTERRUPTED_EXIT_CODE = 130
"""What commands give when they were ended; the signal's own takes its place (SIGTERM's is 143)."""
