"""Who opens run folders that are not pyarrow's own, as `hdfs://`: a room above says so, before there is one.

Apart from run_dir, which loads pyarrow: a command that only tells its flags has no use for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow import fs

OpenFiles = Callable[[str], "tuple[fs.FileSystem, str]"]
other_schemes: list[OpenFiles] = []


def use_for_other_schemes(open_files: OpenFiles) -> None:
    """Who knows the file systems that pyarrow does not; commands say so when they start."""
    other_schemes[:] = [open_files]
