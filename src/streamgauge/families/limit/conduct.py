"""How a search is conducted: it plans as it goes."""

from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.families.limit.course import SearchCourse
from streamgauge.launch.conduct import Conduct
from streamgauge.launch.run_records import RunRecords
from streamgauge.plan.plan_file import Plan


class LimitConduct(Conduct):
    def course(self, run: RunDir, plan: Plan, records: RunRecords) -> SearchCourse:
        return SearchCourse(run, plan, records)
