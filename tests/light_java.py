"""What brokers of tests are told that nobody measures."""

from __future__ import annotations

from streamgauge.jvm.java import COMPILES_LITTLE

LIGHT_JAVA = (COMPILES_LITTLE,)
"""How they collect stays as it is: a Java takes one word on that."""
