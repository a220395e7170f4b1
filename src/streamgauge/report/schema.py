"""The JSON Schema of results documents: made from the models, one for each kind of run."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Field, create_model

from streamgauge.core.json_schema import schema_text, shipped_schema, titled_schema
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
    return titled_schema(union, "results", "Results of a streamgauge run")


def _one_of(kind: str) -> Any:
    return Literal[kind]


def made_schema_text() -> str:
    return schema_text(made_schema())


def results_schema() -> dict[str, Any]:
    """The JSON Schema that every document keeps to, as it is shipped."""
    return shipped_schema("streamgauge.report", SCHEMA_FILE)
