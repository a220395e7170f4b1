"""Spark's mother of Python processes on this host, with what agents' tasks import loaded before she forks.

Every task is a new process (see spark_session), and would import it anew: half a second of CPU each, just
before the load that is to be measured.
"""

from __future__ import annotations

import importlib

from pyspark import daemon

_OF_EVERY_TASK = "streamgauge.launch.crew_member"

if __name__ == "__main__":
    importlib.import_module(_OF_EVERY_TASK)
    daemon.manager()
