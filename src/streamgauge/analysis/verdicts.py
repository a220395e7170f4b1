"""Table `verdicts`: whether a case can be trusted, and what is to be known of it.

A case that lost, damaged or failed to deliver a message has failed. A case that missed
its rate is still a measurement, but it is marked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.bottleneck import FIGURES, SCHEDULE_LAG_MS, bottleneck, bottleneck_reason
from streamgauge.analysis.cells import measured
from streamgauge.analysis.query import quoted, table_query
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import ACCOUNTING, CASE, MEASURE, SECOND, VERDICTS

RATE_HELD = 0.99
"""Share of the wanted rate below which a case has missed it."""

_DRIFT_DIGITS = 9
DRIFT_SECONDS = 3
"""Fewer points say nothing of a slope."""

_COUNTS = [column.name for column in ACCOUNTING.columns if column.kind == "int64"]
_FAULTS = ("lost_write", "unseen", "corrupt", "failed")


def verdicts(
    cases: DataFrame,
    cells: DataFrame,
    *,
    accounting: DataFrame,
    latency: DataFrame,
    throughput: DataFrame,
    cpu: DataFrame,
    resources: DataFrame,
    clocks: DataFrame,
) -> DataFrame:
    """One row: a case of the plan, whether it was run or not."""
    counts = ", ".join(f"coalesce({name}, 0) as {name}" for name in ["measured", *_COUNTS])
    text = f"""
    with described as (
        select c.*, {counts}, intended_range_s, sent_range_s, created, lag_ms, ack_ms, negative,
            sent_messages_per_s, received_messages_per_s, producer_cores, consumer_cores, broker_cores,
            machine_share, broker_host_cores, clock_bound_ms, median_ms, drift_ms_per_s
        from {{cases}} c
        left join ({_TOTALS}) t on t.`case` = c.`case`
        left join ({_MEASURED}) m on m.`case` = c.`case`
        left join ({FIGURES}) f on f.`case` = c.`case`
        left join ({_CLOCK_BOUNDS}) b on b.`case` = c.`case`
        left join ({_DRIFTS}) d on d.`case` = c.`case`),
    judged as (select *, {_MISSED_RATE} as missed_rate from described)
    select `case`, if(greatest({", ".join(_FAULTS)}) > 0 or {_MISSING} > 0, 'failed', status) as status,
        concat_ws('\\n', {", ".join(_reasons())}) as reasons,
        {bottleneck()} as bottleneck, {bottleneck_reason()} as bottleneck_reason, drift_ms_per_s
    from judged"""
    return table_query(
        VERDICTS,
        text,
        cases=cases,
        cells=cells,
        accounting=accounting,
        latency=latency,
        throughput=throughput,
        cpu=cpu,
        resources=resources,
        clocks=clocks,
    )


# One row: a case, with the counts of both phases together: warm-up must not lose messages either.
_TOTALS = f"""
    select `case`, sum(if(phase = '{MEASURE}', sent, 0)) as measured,
        {", ".join(f"sum({name}) as {name}" for name in _COUNTS)}
    from {{accounting}} where scope = '{CASE}' group by `case`"""

_MEASURED = f"""
    select `case`, (max(intended_last_ns) - min(intended_first_ns)) / {NS_PER_S} as intended_range_s,
        (max(sent_last_ns) - min(sent_first_ns)) / {NS_PER_S} as sent_range_s,
        sum(created_count) as created
    from {measured("{cells}")} group by `case`"""

# One row: a case, with how far a producer's and a consumer's clock can be apart, and its latency.
_CLOCK_BOUNDS = f"""
    select e.`case`, clock_bound_ms, p50 as median_ms
    from (
        select `case`, max(if(startswith(agent, 'producer'), error_ms, null))
            + max(if(startswith(agent, 'consumer'), error_ms, null)) as clock_bound_ms
        from {{clocks}} group by `case`) e
    join {{latency}} y
        on y.`case` = e.`case` and y.scope = '{CASE}' and y.leg = 'intended_to_received'"""

# One row: a case, with the slope of its per-second medians.
# Rounded: Spark adds up in any order, and the last digits of a sum depend on it.
_DRIFTS = f"""
    select `case`, if(count(*) >= {DRIFT_SECONDS},
        round(regr_slope(p50, cast(second as double)), {_DRIFT_DIGITS}), null) as drift_ms_per_s
    from {{latency}} where scope = '{SECOND}' and leg = 'intended_to_received' group by `case`"""

# Steps have no one rate: theirs is that of the intended times.
_WANTED_PER_S = """if(is_paced,
    coalesce(constant_rate_per_s, if(intended_range_s > 0, (measured - 1) / intended_range_s, null)), null)"""

# In a short run a few ms at the ends are more than 1%: the schedule must have slipped as well.
_MISSED_RATE = f"""coalesce(sent_messages_per_s < {RATE_HELD}D * {_WANTED_PER_S}
    and (sent_range_s - intended_range_s) * 1000 > {SCHEDULE_LAG_MS}D, false)"""

# Without delivery reports nothing is known to be acknowledged; but what was sent is to arrive.
_MISSING = """if(not has_completions and consumers > 0,
    greatest(sent - (failed + received + corrupt), 0), 0)"""


def _reasons() -> list[str]:
    """One line each; null where there is nothing to say."""
    unsettled = "(sent - acked - failed)"
    return [
        "status_reason",
        _if_any("lost_write", "acknowledged messages lost, though later ones of their partition came"),
        _if_any("unseen", "acknowledged messages not seen, and nothing after them in their partition"),
        _if_any("corrupt", "corrupt records received"),
        _if_any("failed", "messages failed to be delivered"),
        _if(
            f"has_completions and {unsettled} > 0",
            "%d messages neither acknowledged nor failed",
            unsettled,
        ),
        _if(f"{_MISSING} > 0", "%d messages, sent without delivery reports, did not arrive", _MISSING),
        _if(
            "was_begun and measured < planned_messages",
            "only %d of %d messages sent",
            "measured",
            "planned_messages",
        ),
        _if(
            "missed_rate",
            "missed its rate: %.0f of %.0f msg/s (%.1f%%)",
            "sent_messages_per_s",
            _WANTED_PER_S,
            f"sent_messages_per_s / {_WANTED_PER_S} * 100",
        ),
        _if_any("duplicate", "duplicate copies received"),
        _if_any("out_of_order", "messages received out of order"),
        _if_any("unexpected", "unexpected records received: not sent by this case"),
        _if_any("negative", "latencies below zero: kept, look at the clocks"),
        _if(
            "clock_bound_ms > median_ms",
            "the hosts' clocks may be %.3g ms apart, more than the median latency of %.3g ms",
            "clock_bound_ms",
            "median_ms",
        ),
        _if("created > 0", "output time is the client's create time, not the broker's append time"),
        _if(
            "not has_completions and sent > 0",
            "delivery reports were off: acknowledgements and failures are not known",
        ),
        "notes",
    ]


def _if(holds: str, words: str, *figures: str) -> str:
    return f"if({holds}, format_string({', '.join([quoted(words), *figures])}), null)"


def _if_any(name: str, what: str) -> str:
    return _if(f"{name} > 0", f"%d {what}", name)
