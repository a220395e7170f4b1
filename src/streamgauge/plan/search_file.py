"""search.json: the trials of a search so far, and how it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.rate_search import Ending, Trial


@dataclass
class SearchRecord:
    trials: list[Trial] = field(default_factory=list)
    ended: Ending | None = None


def read_search(run: RunDir) -> SearchRecord:
    """Empty before the first trial."""
    if not run.has(run.search):
        return SearchRecord()
    content = run.read_json(run.search)
    try:
        return SearchRecord([Trial(**trial) for trial in content["trials"]], content["ended"])
    except (TypeError, KeyError) as error:
        raise CorruptRun(f"{run.url(run.search)}: not the record of a search: {error}") from None


def write_search(run: RunDir, record: SearchRecord) -> None:
    run.write_json(run.search, asdict(record))
