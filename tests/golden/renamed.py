"""Fields of the results document that have another name, another place or other words than in 0.1.

`expected.json` of the stored runs is what the code of its time said, and stays as it is. What has changed on
purpose since then is listed here, and in the CHANGELOG; all else must be the same. Fields that are new need
no entry: the stored documents do not have them.
"""

from __future__ import annotations

from typing import Any

RENAMED: dict[str, str] = {}
"""Place before → place now. A place is keys with dots, `*` for every key or number: `cases.*.status`."""

REWORDED: dict[str, dict[Any, Any]] = {}
"""Place before → value before → value now, where a word has been replaced by another."""

LEFT_OUT: dict[str, str] = {}
"""Place before → why it cannot be compared any more."""
