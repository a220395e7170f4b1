"""Reading one field of many messages, without a loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from confluent_kafka import Message


def column(field: Any, records: list[Message], kind: Any) -> Any:
    return np.fromiter(map(field, records), kind, len(records))
