"""The one thing that pyproject.toml cannot say yet without calling itself experimental."""

from pathlib import Path

from setuptools import Extension, setup

_NATIVE = Path("src/streamgauge/native")

setup(
    ext_modules=[
        # The hot loops. Optional: without a C compiler the package works by their Python twins, only slower.
        Extension(
            "streamgauge.native._loops",
            sorted(str(source) for source in _NATIVE.glob("*.c")),
            depends=sorted(str(header) for header in _NATIVE.glob("*.h")),
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
