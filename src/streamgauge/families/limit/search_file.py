"""search.json: the trials of a search so far, and how it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.families.limit.rate_search import Ending, RateSearch, Trial
from streamgauge.families.limit.section import Search
from streamgauge.plan.plan_file import Plan


@dataclass
class SearchRecord:
    trials: list[Trial] = field(default_factory=list)
    ended: Ending | None = None


def state_of(plan: Plan, record: SearchRecord) -> RateSearch:
    """What the trials of a run's search say."""
    step_s = plan.cases[0].load.duration
    assert step_s is not None, "steps of a search have a duration"
    return RateSearch(plan.section_as(Search), step_s, record.trials)


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
