"""A document as the renderers that are still to be replaced read it."""

from __future__ import annotations

from typing import Any

from streamgauge.core.run_dir import RunDir
from streamgauge.report import results
from streamgauge.report.old_shape import old_shape


def results_document(run: RunDir, *tables: Any) -> dict[str, Any]:
    return old_shape(results.results_document(run, *tables))
