"""The JSON Schema of differences, histories and checks: made from the models."""

from __future__ import annotations

import json
from importlib import resources
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from streamgauge.comparing.check import CheckDocument
from streamgauge.comparing.document import DiffDocument, HistoryDocument

SCHEMA_FILE = "diff.schema.json"


def made_schema() -> dict[str, Any]:
    """Told apart by `kind`."""
    union: Any = Annotated[DiffDocument | HistoryDocument | CheckDocument, Field(discriminator="kind")]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:streamgauge:diff",
        "title": "Differences between streamgauge runs",
    }
    return head | TypeAdapter(union).json_schema(mode="serialization")


def made_schema_text() -> str:
    return json.dumps(made_schema(), indent=1, ensure_ascii=False) + "\n"


def diff_schema() -> dict[str, Any]:
    """As it is shipped."""
    text = resources.files("streamgauge.comparing").joinpath(SCHEMA_FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
