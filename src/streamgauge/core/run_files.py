"""What pyarrow may ask of a file system, and of that what no run folder needs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import fs


class RunFiles(fs.FileSystemHandler):  # type: ignore[misc]
    """Where a run folder lies; the rest is for whoever knows the place."""

    def get_type_name(self) -> str:
        return "streamgauge"

    def normalize_path(self, path: str) -> str:
        return path

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        raise NotImplementedError

    def delete_root_dir_contents(self) -> None:
        raise NotImplementedError

    def copy_file(self, src: str, dest: str) -> None:
        raise NotImplementedError

    def open_append_stream(self, path: str, metadata: Any = None) -> pa.NativeFile:
        raise NotImplementedError
