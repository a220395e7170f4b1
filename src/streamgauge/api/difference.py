"""A difference between runs that a notebook shows."""

from __future__ import annotations

from streamgauge.api.notebook import shown_html
from streamgauge.comparing.document import DiffDocument
from streamgauge.comparing.show import show_diff


class Difference(DiffDocument):
    def _repr_html_(self) -> str:
        return shown_html(show_diff(self))
