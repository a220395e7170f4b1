"""The toy family as an installer leaves it: a module, and beside it what says which entry points it has."""

from __future__ import annotations

import shutil
from pathlib import Path

FAMILY = Path(__file__).with_name("toy_family.py")


def install_toy(folder: Path) -> Path:
    about = folder / "toy_family-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(FAMILY, folder / FAMILY.name)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-family\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[streamgauge.families]\ntoy = toy_family:Toy\n")
    return folder
