"""`python tools/results_schema.py`: write the JSON Schemas of documents anew from their models."""

from __future__ import annotations

from pathlib import Path

from streamgauge.comparing import schema as of_differences
from streamgauge.report import schema as of_results

SOURCES = Path(__file__).parents[1] / "src" / "streamgauge"
PLACES = {
    SOURCES / "report" / of_results.SCHEMA_FILE: of_results.made_schema_text,
    SOURCES / "comparing" / of_differences.SCHEMA_FILE: of_differences.made_schema_text,
}

if __name__ == "__main__":
    for place, made in PLACES.items():
        place.write_text(made(), "utf-8")
        print(place)
