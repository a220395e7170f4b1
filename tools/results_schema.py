"""`python tools/results_schema.py`: write the JSON Schema of results documents anew from their models."""

from __future__ import annotations

from pathlib import Path

from streamgauge.report.schema import SCHEMA_FILE, made_schema_text

PLACE = Path(__file__).parents[1] / "src" / "streamgauge" / "report" / SCHEMA_FILE

if __name__ == "__main__":
    PLACE.write_text(made_schema_text(), "utf-8")
    print(PLACE)
