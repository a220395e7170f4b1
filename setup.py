"""The one thing that pyproject.toml cannot say yet without calling itself experimental."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        # Speeds up reading small records. Optional: without a C compiler the package works, only slower.
        Extension(
            "streamgauge.drivers.kafka.confluent._rdkafka_batches",
            ["src/streamgauge/drivers/kafka/confluent/_rdkafka_batches.c"],
            optional=True,
        )
    ]
)
