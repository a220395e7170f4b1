"""The JSON Schema of differences, histories and checks: made from the models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from streamgauge.comparing.check import CheckDocument
from streamgauge.comparing.document import DiffDocument, HistoryDocument
from streamgauge.core.json_schema import schema_text, shipped_schema, titled_schema

SCHEMA_FILE = "diff.schema.json"


def made_schema() -> dict[str, Any]:
    """Told apart by `kind`."""
    union: Any = Annotated[DiffDocument | HistoryDocument | CheckDocument, Field(discriminator="kind")]
    return titled_schema(union, "diff", "Differences between streamgauge runs")


def made_schema_text() -> str:
    return schema_text(made_schema())


def diff_schema() -> dict[str, Any]:
    """As it is shipped."""
    return shipped_schema("streamgauge.comparing", SCHEMA_FILE)
