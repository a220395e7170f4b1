"""Targets for the ways into the cluster that stays up: files that every command takes with --target."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from streamgauge.flags.shipped_targets import shipped_target
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.target import Target

_OURS_ALONE = 0o600


def write_targets(client_files: Mapping[str, str]) -> dict[str, Path]:
    """Beside what clients need for a way in, where the address is too; way in → target."""
    written = {}
    for kind, file in client_files.items():
        content = {"name": kind, **shipped_target(__file__, "kafka"), "settings": {"security_file": file}}
        path = Path(file).with_suffix(".yaml")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OURS_ALONE)
        with os.fdopen(descriptor, "w") as target:
            target.write(dump_yaml(parse(Target, content, str(path))))
        written[kind] = path
    return written
