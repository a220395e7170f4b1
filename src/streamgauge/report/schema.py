"""The JSON Schema of results documents: made from the models, one for each kind of run."""

from __future__ import annotations

import json
from importlib import resources
from typing import Annotated, Any, Literal, Union

from pydantic import Field, TypeAdapter, create_model

from streamgauge.report.case_document import CasesDocument
from streamgauge.spec.families import all_families

SCHEMA_FILE = "results.schema.json"


def made_schema() -> dict[str, Any]:
    """Told apart by `kind`."""
    models = tuple(
        create_model(
            f"{family.kind.capitalize()}Results",
            __base__=family.document_model() or CasesDocument,
            kind=(_one_of(family.kind), ...),
        )
        for family in all_families()
    )
    union: Any = Annotated[Union[models], Field(discriminator="kind")]  # noqa: UP007
    schema = TypeAdapter(union).json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:streamgauge:results",
        "title": "Results of a streamgauge run",
    }
    return head | schema


def _one_of(kind: str) -> Any:
    return Literal[kind]


def made_schema_text() -> str:
    return json.dumps(made_schema(), indent=1, ensure_ascii=False) + "\n"


def results_schema() -> dict[str, Any]:
    """The JSON Schema that every document keeps to, as it is shipped."""
    text = resources.files("streamgauge.report").joinpath(SCHEMA_FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
