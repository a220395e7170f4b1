"""The run folder as agents see it: the launcher's own path, a URL that all hosts reach, or served by us."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import KEY_VARIABLE
from streamgauge.launch.folder_server import served


@dataclass(frozen=True)
class AgentsFolder:
    run: str
    """Location of the run folder, for agents."""
    meeting: str
    """Location of the folder in which launcher and agents meet, for agents."""
    meeting_here: RunDir
    """The same for the launcher."""
    environment: dict[str, str] = field(default_factory=dict)
    """What tasks and agents need to know to get there."""


@contextmanager
def agents_folder(run: RunDir, address: str | None) -> Iterator[AgentsFolder]:
    """`address`: the launcher's own, as hosts of a cluster reach it; None when agents run on this host."""
    if address is None:
        yield AgentsFolder(run.location, run.location, run)
        return
    with ExitStack() as stack:
        if run.is_everywhere:
            # Files there may take seconds to be seen: events go there, words do not.
            words = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streamgauge-meeting-")))
        else:
            words = run.local()
        server = stack.enter_context(served(words, address, run.id))
        yield AgentsFolder(
            run.location if run.is_everywhere else server.location,
            server.location,
            RunDir(str(words)),
            {KEY_VARIABLE: server.key},
        )
