"""What travels to a cluster with our application: this very package, and the jars that its clients need.

Hosts need Python and the libraries that streamgauge builds on, not streamgauge itself; so all agents run
the launcher's version. Spark unpacks the archive into the folder that its tasks work in: compiled modules
cannot be loaded from a zip.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import streamgauge
from streamgauge.core.folders import cache_folder
from streamgauge.jvm.jars import SHIPPED_JARS_VARIABLE, cached_jars

_FOLDER = "streamgauge-package"
_JARS = "shipped-jars"
_KEPT = 3
_NOT_FOR_AGENTS = {"kafka", "spark-kafka", "hdfs", "s3", "yarn"}
"""Locks of what launchers and tests start: brokers, Spark's own source, an HDFS, a YARN, an S3 server."""
_SAME_TIME = (2000, 1, 1, 0, 0, 0)


def application_settings() -> dict[str, str]:
    """Spark settings under which tasks find the package."""
    return {
        "spark.archives": f"{package_archive()}#{_FOLDER}",
        "spark.executorEnv.PYTHONPATH": _FOLDER,
        f"spark.executorEnv.{SHIPPED_JARS_VARIABLE}": f"{_FOLDER}/{_JARS}",
    }


def package_archive() -> Path:
    """Made once for each state of the package; its name tells the state."""
    content = dict(_content())
    digest = hashlib.sha256()
    for name, source in sorted(content.items()):
        digest.update(f"{name} {len(source)} ".encode() + source)
    folder = cache_folder() / "applications"
    archive = folder / f"streamgauge-{digest.hexdigest()[:16]}.zip"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{archive.name}.{secrets.token_hex(4)}"
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as packed:
            for name, source in sorted(content.items()):
                packed.writestr(zipfile.ZipInfo(name, _SAME_TIME), source)
        os.replace(unfinished, archive)
        _remove_old(folder)
    return archive


def _content() -> Iterator[tuple[str, bytes]]:
    package = Path(next(iter(streamgauge.__path__)))
    for file in package.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield f"streamgauge/{file.relative_to(package)}", file.read_bytes()
    # Drivers are found by entry points, which are the metadata's.
    try:
        metadata = distribution("streamgauge")
    except PackageNotFoundError:
        return
    for name in ("METADATA", "entry_points.txt"):
        if (text := metadata.read_text(name)) is not None:
            yield f"streamgauge-{metadata.version}.dist-info/{name}", text.encode()
    for path, jar in cached_jars(but_not=_NOT_FOR_AGENTS).items():
        yield f"{_JARS}/{path}", jar.read_bytes()


def _remove_old(folder: Path) -> None:
    archives = sorted(folder.glob("streamgauge-*.zip"), key=lambda path: path.stat().st_mtime)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)
