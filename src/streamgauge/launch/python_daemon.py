"""Spark's mother of Python processes on this host, with what agents' tasks import loaded before she forks.

Every task is a new process (see spark_session), and would import it anew: half a second of CPU each, just
before the load that is to be measured. The same goes for agents, whose processes the tasks get from a server.
"""

from __future__ import annotations

import gc
import importlib

from pyspark import daemon

from streamgauge.agents import fork_server

_OF_EVERY_TASK = ("streamgauge.launch.crew_member", "pyspark.worker")

if __name__ == "__main__":
    fork_server.open_door()
    for module in _OF_EVERY_TASK:
        importlib.import_module(module)
    # What is never looked at by a collector is never copied for a process that only reads it.
    gc.collect()
    gc.freeze()
    daemon.manager()
