"""Key-value pairs in text: `a=1,b=2`."""

from __future__ import annotations

from typing import Any

from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.trees import TreeEvaluator


class KvpEvaluator(TreeEvaluator):
    def __init__(self, pairs_separator: str = ",", key_value_separator: str = "=") -> None:
        self._between_pairs, self._inside_pair = pairs_separator, key_value_separator

    def decode(self, data: bytes) -> Any:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Undecodable("not UTF-8 text") from None
        if not text.strip():
            return None
        found: dict[str, str] = {}
        for pair in text.split(self._between_pairs):
            parts = pair.split(self._inside_pair)
            # A pair with a second separator says two things at once: it is passed over.
            if len(parts) <= 2 and (name := parts[0].strip()):
                found[name] = parts[1].strip() if len(parts) == 2 else ""
        return found
