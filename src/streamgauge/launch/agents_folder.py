"""The run folder as agents see it: the launcher's own path, a URL that all hosts reach, or served by us."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streamgauge.core.guardian import temporary_folder
from streamgauge.core.outside import Outside, outside_of
from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.launch.folder_server import served

_CHUNK_BYTES = 1 << 20


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
    staged: RunDir | None = None
    """Where agents write when only the launcher gets to the run folder; `carry_over` brings it there."""
    outside: Outside | None = None
    """How agents on other hosts get at what is started here for them; None: all agents are here."""

    def carry_over(self, run: RunDir) -> None:
        """Put what agents wrote into the run folder, if it is not there already."""
        if self.staged is None:
            return
        for path in [p for part in ("events", "logs") for p in self.staged.list_files(part)]:
            with self.staged.local(path).open("rb") as source, run.open_output(path) as place:
                shutil.copyfileobj(source, place, _CHUNK_BYTES)
        self.staged.remove("events")


@contextmanager
def agents_folder(run: RunDir, address: str | None, agents: int = 1) -> Iterator[AgentsFolder]:
    """`address`: the launcher's own, as hosts of a cluster reach it; None when agents run on this host.
    `agents`: as many as there will be at a time."""
    with ExitStack() as stack:
        if run.is_behind_spark:
            yield _staged(stack, run, address, agents)
            return
        if address is None and not run.is_in_a_cloud:
            yield AgentsFolder(run.location, run.location, run)
            return
        if run.is_everywhere:
            # A word there is several requests, and seen seconds later: events go there, words do not.
            words = stack.enter_context(_emptied_after("streamgauge-meeting-"))
        else:
            words = run.local()
        if address is None:
            yield AgentsFolder(run.location, str(words), RunDir(str(words)))
            return
        server = stack.enter_context(served(words, address, run.id, agents))
        yield AgentsFolder(
            run.location if run.is_everywhere else server.location,
            server.location,
            RunDir(str(words)),
            {IDENTITY_VARIABLE: server.identity},
            outside=outside_of(address, server.identity),
        )


@contextmanager
def _emptied_after(prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix, dir=temporary_folder()) as folder:
        yield Path(folder)


def _staged(stack: ExitStack, run: RunDir, address: str | None, agents: int) -> AgentsFolder:
    """A folder of this host with the run's name, which is part of what agents call things."""
    folder = stack.enter_context(_emptied_after("streamgauge-staged-")) / run.id
    folder.mkdir()
    here = RunDir(str(folder))
    if address is None:
        return AgentsFolder(here.location, here.location, here, staged=here)
    server = stack.enter_context(served(folder, address, run.id, agents))
    return AgentsFolder(
        server.location,
        server.location,
        here,
        {IDENTITY_VARIABLE: server.identity},
        here,
        outside_of(address, server.identity),
    )
