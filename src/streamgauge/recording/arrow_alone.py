"""pyarrow without pandas, which nobody needs who records."""

from __future__ import annotations

import sys

import pyarrow as pa


class _NoPandas:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def keep_arrow_alone() -> None:
    """pyarrow imports pandas once, when it first converts a value: for 0.3 CPU seconds, with the
    interpreter's lock, in the midst of what is measured, and for 30 MiB. Let it look now, and find none. Who
    needs pandas can import it as ever, and `to_pandas` looks again."""
    if "pandas" in sys.modules:
        return  # somebody has paid for it already
    blind = _NoPandas()
    sys.meta_path.insert(0, blind)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(blind)
