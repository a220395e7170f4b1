"""What was the limit of a case: rules over its figures, each with the figures in its reason.

Nothing is said of network and disk: what they could carry is not known from samples.
The first rule that holds is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from streamgauge.analysis.query import quoted
from streamgauge.tables.results import CASE, SECOND

SCHEDULE_LAG_MS = 10.0
"""A schedule is held when its lag's p99 is below this, or below ten intervals of a slow one …"""
SCHEDULE_LAG_INTERVALS = 10.0
SCHEDULE_LAG_MOST_MS = 100.0
"""… which may not be more than this."""

PROCESS_BUSY_CORES = 0.85
"""A client's sending or receiving is one thread: near one core it cannot do more."""

BROKER_BUSY_SHARE = 0.85
"""Of all cores of its host: a broker has many threads."""

MACHINE_BUSY_SHARE = 0.90

SLOW_ACK_MS = 100.0
"""A median as long as this is time spent in a full queue, not on the way."""

CONSUMER_BEHIND = 0.99
"""Share of the sent rate below which consumers do not keep up."""


FIGURES = f"""
    select coalesce(l.`case`, r.`case`, c.`case`, h.`case`) as `case`, lag_ms, ack_ms, negative,
        sent_messages_per_s, received_messages_per_s, producer_cores, consumer_cores, broker_cores,
        machine_share, broker_host_cores
    from (
        -- Output times are whole ms, cut off: their legs are below zero with the best of clocks.
        select `case`, max(if(leg = 'intended_to_sent', p99, null)) as lag_ms,
            max(if(leg = 'sent_to_acked', p50, null)) as ack_ms,
            sum(if(not contains(leg, 'output'), negative_count, null)) as negative
        from {{latency}} where scope = '{CASE}' group by `case`) l
    full join (
        select `case`, sent_messages_per_s, received_messages_per_s
        from {{throughput}} where scope = '{CASE}') r on r.`case` = l.`case`
    full join (
        select `case`, max(if(kind = 'producer', busiest_cores, null)) as producer_cores,
            max(if(kind = 'consumer', busiest_cores, null)) as consumer_cores,
            max(if(kind = 'broker', busiest_cores, null)) as broker_cores
        from {{cpu}} group by `case`) c on c.`case` = coalesce(l.`case`, r.`case`)
    full join (
        -- The busiest machine while messages were sent, and the cores of the brokers' hosts.
        select `case`, max(share) as machine_share, max(cores) as broker_host_cores
        from (
            select u.`case`, host, avg(if(kind = 'machine', cpu_cores / cores, null)) as share,
                max(if(kind = 'broker', cores, null)) as cores
            from {{resources}} u
            join (
                select `case`, min(second) as first_s, max(second) as last_s
                from {{throughput}} where scope = '{SECOND}' and sent_messages_per_s > 0 group by `case`) w
            on w.`case` = u.`case` and at_s between first_s and last_s + 1
            group by u.`case`, host)
        group by `case`) h on h.`case` = coalesce(l.`case`, r.`case`, c.`case`)"""
"""One row: a case, with the figures that the rules look at; null where there are none."""


class _Rule(NamedTuple):
    holds: str
    limit: str
    reason: str


_IS_MEASURED = "(measured > 0)"


def bottleneck() -> str:
    named = " ".join(f"when {rule.holds} then '{rule.limit}'" for rule in _rules())
    return f"case {named} else 'none' end"


def bottleneck_reason() -> str:
    named = " ".join(f"when {rule.holds} then {quoted(rule.reason)}" for rule in _rules())
    reason = f"""case {named}
        when not {_IS_MEASURED} then 'nothing was measured'
        when is_paced then 'the load was held'
        when coalesce(producer_cores, machine_share) is null then 'not known without CPU figures'
        else 'nothing was saturated' end"""
    return f"concat_ws(': ', {reason}, if({_IS_MEASURED}, {_figures()}, null))"


def _rules() -> Iterator[_Rule]:
    """A held schedule can still be limited behind the producer, an unheld one is limited somewhere."""
    is_unheld = f"(is_paced and ({_above('lag_ms', _LAG_LIMIT_MS)} or missed_rate))"
    is_pressed = f"({is_unheld} or (not is_paced and {_IS_MEASURED}))"
    is_behind = _above("sent_messages_per_s", f"received_messages_per_s / {CONSUMER_BEHIND}D")
    is_broker_busy = _above("broker_cores", f"broker_host_cores * {BROKER_BUSY_SHARE}D")
    yield _Rule(
        f"{is_pressed} and {_above('producer_cores', f'{PROCESS_BUSY_CORES}D')}",
        "client_cpu",
        "a producer had no CPU left",
    )
    yield _Rule(
        f"{is_behind} and {_above('consumer_cores', f'{PROCESS_BUSY_CORES}D')}",
        "client_cpu",
        "a consumer had no CPU left and fell behind",
    )
    yield _Rule(_above("machine_share", f"{MACHINE_BUSY_SHARE}D"), "machine_cpu", "a machine had no CPU left")
    yield _Rule(f"{is_pressed} and {is_broker_busy}", "broker", "a broker had no CPU left")
    yield _Rule(
        f"{is_pressed} and {_above('ack_ms', f'{SLOW_ACK_MS}D')}",
        "broker",
        "acknowledgements came slowly while clients had CPU left",
    )
    yield _Rule(is_unheld, "generator", "the schedule was not held, and nothing else was busy")


def _above(name: str, limit: str) -> str:
    """False where a figure is missing: a rule needs figures to hold."""
    return f"coalesce({name} > {limit}, false)"


# Steps have no one interval, so they get no allowance for slow schedules.
_LAG_LIMIT_MS = f"""greatest({SCHEDULE_LAG_MS}D, least({SCHEDULE_LAG_MOST_MS}D, coalesce(
    {SCHEDULE_LAG_INTERVALS}D * 1000D * producers / constant_rate_per_s, {SCHEDULE_LAG_MS}D)))"""


def _figures() -> str:
    """All figures there are, whichever rule held."""
    clients = (
        f"if({kind}_cores is not null, format_string('busiest {kind} %.2f cores', {kind}_cores), null)"
        for kind in ("producer", "consumer")
    )
    return f"""concat_ws(', ',
        if(is_paced and lag_ms is not null, format_string('schedule lag p99 %.3g ms', lag_ms), null),
        if(ack_ms is not null, format_string('ack p50 %.3g ms', ack_ms), null),
        {", ".join(clients)},
        if(broker_cores is not null and broker_host_cores is not null,
            format_string('broker %.2f of %d cores', broker_cores, broker_host_cores), null),
        if(machine_share is not null, format_string('machine %.0f%% busy', machine_share * 100), null))"""
