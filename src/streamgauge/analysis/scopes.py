"""Scopes: the same aggregates for the whole case, each topic, each partition and each second.

Every table with scopes first aggregates messages to *cells*, one row per case, topic,
partition and second, and then merges cells: messages are read once, not once a scope.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.tables.results import CASE, PARTITION, SECOND, TOPIC

CELL = ("`case`", "topic", "`partition`", "second")
SCOPE = ("`case`", "scope", "topic", "`partition`", "second")

_MEMBERS = {CASE: (), TOPIC: ("topic",), PARTITION: ("topic", "`partition`"), SECOND: ("second",)}
# `grouping` is 0 for a column that the row's grouping set names.
_NAME = f"""case when grouping(second) = 0 then '{SECOND}'
    when grouping(`partition`) = 0 then '{PARTITION}'
    when grouping(topic) = 0 then '{TOPIC}'
    else '{CASE}' end"""


def by_scope(
    cells: str,
    aggregates: Sequence[str],
    also_by: Sequence[str] = (),
    scopes: Sequence[str] = (CASE, TOPIC, PARTITION, SECOND),
) -> str:
    """A query that merges cells; one whose partition or second is unknown has no row in that scope."""
    keys = ["`case`", *also_by]
    sets = ", ".join(f"({', '.join([*keys, *_MEMBERS[scope]])})" for scope in scopes)
    columns = ", ".join([*keys, "topic", "`partition`", "second"])
    return f"""select * from (
        select {columns}, {_NAME} as scope, {", ".join(aggregates)}
        from {cells}
        group by {columns} grouping sets ({sets}))
    where not (scope = '{PARTITION}' and `partition` is null)
        and not (scope = '{SECOND}' and second is null)"""
