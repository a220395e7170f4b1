"""JSON Schemas made from models: how they begin, how they are written, and how what is shipped is read."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from pydantic import TypeAdapter


def titled_schema(models: Any, name: str, title: str) -> dict[str, Any]:
    """`models`: of documents, told apart as their union says."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:streamgauge:{name}",
        "title": title,
    }
    return head | TypeAdapter(models).json_schema(mode="serialization")


def schema_text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def shipped_schema(package: str, file: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(resources.files(package).joinpath(file).read_text("utf-8"))
    return schema
