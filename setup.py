"""The one thing that pyproject.toml cannot say yet without calling itself experimental."""

from setuptools import Extension, setup

_NATIVE = "src/streamgauge/native"

setup(
    ext_modules=[
        # The hot loops. Optional: without a C compiler the package works by their Python twins, only slower.
        Extension(
            "streamgauge.native._loops",
            [f"{_NATIVE}/{name}.c" for name in ("_loops", "batches", "rows", "sender", "sending", "shared")],
            depends=[f"{_NATIVE}/{name}.h" for name in ("loops", "rdkafka", "sender")],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
