"""The bench's programs in C (`bench/peers`), built where a compiler is."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.c_programs import compile_c, compiler

_SOURCES = Path(__file__).parent / "peers"


def build(name: str, folder: Path, *libraries: str) -> Path | None:
    """Of `peers/NAME.c`; None: there is no compiler."""
    if compiler() is None:
        return None
    program = folder / name
    compile_c(_SOURCES / f"{name}.c", program, *libraries)
    return program
