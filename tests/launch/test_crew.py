"""What is said of a crew that Spark has ended."""

from __future__ import annotations

import pytest

from streamgauge.launch.crew import why_ended

_TRACE = """Job aborted due to stage failure: Could not recover from a failed barrier ResultStage.
  File "crew_member.py", line 44, in serve
{error}
	at org.apache.spark.api.python.BasePythonRunner
"""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            "streamgauge.core.errors.BadInput: follower left has streamgauge 1",
            "follower left has streamgauge 1",
        ),
        (
            "OSError: the launcher at 10.0.0.1:4711 does not answer: timed out",
            "the launcher at 10.0.0.1:4711",
        ),
        ("OSError: [Errno 5] Input/output error", "Spark ended the agents: Job aborted due to stage failure"),
    ],
)
def test_what_a_task_found_is_told_in_its_words(error: str, words: str) -> None:
    assert why_ended(_TRACE.format(error=error)).startswith(words)
