"""What one consumer receives when the loop is in Java: rows are fetched many at a time, stamped already."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from streamgauge.agents.receiving import Receiving
from streamgauge.core.errors import Unreachable
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Driver
from streamgauge.drivers.engine import jvm_driver
from streamgauge.drivers.order_loops import OrderReceiver
from streamgauge.tables.events import INTACT

_LOOK_S = 0.02


class OrderReceiving(Receiving):
    def _open(self, driver: Driver, options: ConsumerOptions) -> Consumer:
        self._loop = OrderReceiver(jvm_driver(driver), options, self._tag)
        # It is asked for all that consumers are asked for, but for records, which only `take` does.
        return cast(Consumer, self._loop)

    def take(self, timeout_s: float) -> bool:
        rows = self._loop.poll(timeout_s)
        if rows is None:
            return False
        producers = (rows.owners >> np.uint64(32)).astype(np.int32)
        columns = {
            "state": rows.state,
            "producer": producers,
            "sequence": rows.sequences,
            "topic": 0,
            "partition": 0,
            "offset": rows.offsets,
            "size_bytes": rows.size_bytes,
            "broker_ms": rows.broker_ms,
            "broker_time": rows.broker_time,
        }
        self._columns.add(len(rows.received_ns), columns, rows.received_ns)
        intact = rows.state == INTACT
        late = (rows.sequences >= self._warming_up) & intact
        if self._warming_up and bool(late.any()):
            self._warming_up = 0
            self._diary.mark("measure_begin", int(rows.received_ns[np.argmax(late)]), self.number)
        self._live.observe(self.number, rows.received_ns - rows.intended_ns, producers, intact)
        self._live.count(self.number, self._columns.received)
        return True

    def prove(self, deadline_s: float) -> None:
        until = time.monotonic() + deadline_s
        while not self._loop.probes():
            if time.monotonic() > until:
                raise Unreachable(self._unproven(deadline_s))
            time.sleep(_LOOK_S)
