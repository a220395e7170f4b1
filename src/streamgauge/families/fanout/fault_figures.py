"""What each fault of a fan-out cost: of every update that was due to a measured client, by the common rules.

Updates of the other clients are counted, not named: what they missed is in the accounting of the point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.fault_costs import FaultCosts
from streamgauge.analysis.fault_figures import late_over_ms, write_fault_figures
from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Integers
from streamgauge.analysis.storage import read_few_events
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.fault_figures import FaultEffects, FaultFigures
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.event_tables import CLIENTS, NO_KEY, OUTAGES, UPDATES
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.plan.plan_file import Plan


def fanout_fault_figures(run: RunDir, plan: Plan, sent: pa.Table, starts_ns: Mapping[str, int]) -> None:
    """`sent`: messages of all cases. Written for whoever reports; a run without faults has no such file."""
    run.remove(run.fault_figures)
    found = {
        case.id: _figures_of(run, case.id, case.faults, sent, starts_ns[case.id])
        for case in plan.cases
        if case.faults and case.id in starts_ns
    }
    if found:
        write_fault_figures(run, found)


def _figures_of(
    run: RunDir, case: str, faults: Sequence[FaultRecord], sent: pa.Table, start_ns: int
) -> list[FaultFigures]:
    measured = sent.filter(pc.and_(pc.equal(sent["case"], case), pc.invert(sent["is_warm_up"])))
    clients = read_few_events(run, CLIENTS, case)
    due = due_updates(measured, clients.filter(clients["is_measured"]), read_few_events(run, UPDATES, case))
    began_ns = min((fault.began_ns for fault in faults if fault.began_ns is not None), default=0)
    before = due.filter(pc.less(due["received_ns"], began_ns))
    late_ms = late_over_ms(integers(before, "received_ns") - integers(before, "intended_ns"))
    costs = FaultCosts(faults, late_ms)
    costs.add(due)
    effects = outage_effects(faults, read_few_events(run, OUTAGES, case))
    return [
        figures.model_copy(update={"effects": effect})
        for figures, effect in zip(costs.figures(start_ns), effects, strict=True)
    ]


def due_updates(sent: pa.Table, clients: pa.Table, updates: pa.Table) -> pa.Table:
    """One row: a message that is due to a client, and what became of it."""
    sent, clients = sent.sort_by("stamp_ns"), clients.sort_by("client")
    due = _due_pairs(integers(sent, "key"), integers(clients, "key"))
    updates = updates.sort_by("received_ns")
    pairs = _pairs_of(updates, integers(sent, "stamp_ns"), integers(clients, "client"))
    # The first of several copies is the one that came first.
    came, firsts, counts = np.unique(pairs, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(came, due), max(len(came) - 1, 0))
    is_there = came[place] == due if len(came) else np.zeros(len(due), bool)
    received = np.zeros(len(due), np.int64)
    received[is_there] = integers(updates, "received_ns")[firsts[place[is_there]]]
    copies = np.zeros(len(due), np.int64)
    copies[is_there] = counts[place[is_there]]
    messages = pa.array(due // max(clients.num_rows, 1))
    return pa.table(
        {
            **{name: sent[name].take(messages) for name in ("intended_ns", "acked_ns", "error")},
            "received_ns": pa.array(received, mask=~is_there),
            "received_count": copies,
            "corrupt_count": np.zeros(len(due), np.int64),
        }
    )


def _due_pairs(keys: Integers, followed: Integers) -> Integers:
    """Message and client as one number, of all that are due: to whoever follows its key, or everything."""
    found = [np.zeros(0, np.int64)]
    for key in np.unique(keys):
        messages = np.flatnonzero(keys == key)
        places = np.flatnonzero((followed == key) | (followed == NO_KEY))
        found.append((messages[:, None] * len(followed) + places[None, :]).ravel())
    return np.concatenate(found)


def _pairs_of(updates: pa.Table, stamps: Integers, clients: Integers) -> Integers:
    """The same of what came; -1 of what is no message of these, as those of the warm-up."""
    if not len(stamps) or not len(clients):
        return np.full(updates.num_rows, -1)
    came_stamps, came_clients = integers(updates, "stamp_ns"), integers(updates, "client")
    messages = np.minimum(np.searchsorted(stamps, came_stamps), len(stamps) - 1)
    places = np.minimum(np.searchsorted(clients, came_clients), len(clients) - 1)
    is_known = (stamps[messages] == came_stamps) & (clients[places] == came_clients)
    return np.where(is_known, messages * len(clients) + places, -1)


def outage_effects(faults: Sequence[FaultRecord], outages: pa.Table) -> list[FaultEffects | None]:
    """Each outage is the last fault's that had begun by then."""
    begun = sorted(
        (fault.charged_from_ns, number)
        for number, fault in enumerate(faults)
        if fault.charged_from_ns is not None
    )
    effects: list[FaultEffects | None] = [None] * len(faults)
    owners = np.searchsorted([began for began, _ in begun], integers(outages, "lost_ns"), side="right") - 1
    for place, (began_ns, number) in enumerate(begun):
        own = outages.filter(pa.array(owners == place))
        back = own["back_ns"].drop_null()
        last_ns = pc.max(back).as_py()
        effects[number] = FaultEffects(
            sessions_lost_count=len(pc.unique(own["client"])),
            sessions_back_count=len(pc.unique(own.filter(own["back_ns"].is_valid())["client"])),
            sessions_back_after_s=None if last_ns is None else (last_ns - began_ns) / NS_PER_S,
        )
    return effects
