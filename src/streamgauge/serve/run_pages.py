"""What is asked of runs that are there: the list, one of them, several, and one in progress."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.serve.child_runs import ChildRuns
from streamgauge.serve.compare_page import MOST_RUNS, compare_page, difference
from streamgauge.serve.frame import run_path
from streamgauge.serve.live_feed import LiveFeeds
from streamgauge.serve.live_look import LiveLook
from streamgauge.serve.live_page import live_page
from streamgauge.serve.report_files import page_of, report_file, report_names
from streamgauge.serve.requests import Answer, Flow, Refused, Request, redirect
from streamgauge.serve.run_list import Row, RunList
from streamgauge.serve.run_page import run_page
from streamgauge.serve.runs_page import runs_page
from streamgauge.serve.safety import Safety

_EVENTS = "text/event-stream"
_AT_ONCE = 2
"""Comparisons and reports that are made at the same time: they take a core each."""


class RunPages:
    def __init__(self, runs: RunList, safety: Safety, children: ChildRuns | None, feeds: LiveFeeds) -> None:
        self._runs, self._safety, self._children, self._feeds = runs, safety, children, feeds
        self._heavy = asyncio.Semaphore(_AT_ONCE)

    async def every(self, request: Request) -> Answer:
        asked, chosen = request.asked("q")[:200], request.asked("tag")[:64]
        rows = await asyncio.to_thread(self._runs.rows)
        return runs_page(
            [row for row in rows if row.is_asked_for(asked, chosen)],
            folder=self._runs.folder,
            asked=asked,
            chosen_tag=chosen,
            tags=sorted({tag for row in rows for tag in row.listed.tags}),
            shows_all=bool(request.asked("all")),
            may_start=self._children is not None,
        )

    async def one(self, request: Request) -> Answer:
        row = await self._row(request)
        run = row.listed.run
        if row.is_running:
            return redirect(run_path(run.id, "live"))
        has_report, files, before = await asyncio.to_thread(self._around, run)
        return run_page(
            row,
            csrf=self._safety.csrf,
            report_key=self._safety.report_key(run.id),
            files=files,
            before=before,
            has_report=has_report,
            may_change=self._children is not None,
        )

    def _around(self, run: RunDir) -> tuple[bool, list[str], str | None]:
        """Whether there is something to report, files of it, and the run before."""
        has_report = run.has(run.report_page) or run.has(run.results_document)
        names = [row.listed.run.id for row in self._runs.rows() if not row.is_running]
        place = names.index(run.id) + 1 if run.id in names else len(names)
        return has_report, report_names(run), names[place] if place < len(names) else None

    async def tag(self, request: Request) -> Answer:
        if self._children is None:
            raise Refused(HTTPStatus.FORBIDDEN, "this server was started with --read-only")
        run = (await self._row(request)).listed.run
        add, remove = ([word for word in request.form.get(name, []) if word] for name in ("add", "remove"))
        await asyncio.to_thread(tag_run, run, add, remove)
        return redirect(run_path(run.id))

    async def report(self, request: Request) -> Answer:
        _, key, name, *pieces = request.path
        run = await asyncio.to_thread(self._runs.find, name)
        if run is None or not self._safety.opens_report(key, name):
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such report; open it from the page of its run")
        if pieces:
            return await asyncio.to_thread(report_file, run, pieces)
        async with self._heavy:
            return await asyncio.to_thread(page_of, run)

    async def compare(self, request: Request) -> Answer:
        rows = await asyncio.to_thread(self._runs.rows)
        ticked = list(reversed(request.query.get("tick", [])))
        names = list(dict.fromkeys(request.query.get("run", []) or ticked))
        known = {row.listed.run.id for row in rows if not row.is_running}
        if missing := [name for name in names if name not in known]:
            raise Refused(HTTPStatus.NOT_FOUND, f"no such run, or it is not done yet: {', '.join(missing)}")
        if len(names) > MOST_RUNS:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"choose up to {MOST_RUNS} runs")
        return compare_page(rows, names)

    async def difference(self, request: Request) -> Answer:
        names = list(dict.fromkeys(request.query.get("run", [])))
        if not 2 <= len(names) <= MOST_RUNS:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"give two runs to compare, or up to {MOST_RUNS}")
        runs = [await asyncio.to_thread(self._runs.find, name) for name in names]
        found = [run for run in runs if run is not None]
        if len(found) < len(names):
            raise Refused(HTTPStatus.NOT_FOUND, "no such run")
        async with self._heavy:
            return await asyncio.to_thread(difference, found)

    async def live(self, request: Request) -> Answer:
        row = await self._row(request)
        name = row.listed.run.id
        if not row.is_running:
            return redirect(run_path(name))
        child = None if self._children is None else self._children.of_run(name)
        return live_page(name, child, csrf=self._safety.csrf)

    async def events(self, request: Request) -> Flow:
        run = (await self._row(request)).listed.run
        if not run.is_local:
            raise Refused(HTTPStatus.NOT_FOUND, "a run folder behind a URL has no live view here")
        feed = self._feeds.of(run.id, lambda: LiveLook(run))
        return Flow(feed.follow(), _EVENTS)

    async def _row(self, request: Request) -> Row:
        row = await asyncio.to_thread(self._runs.row, request.path[1])
        if row is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no run named {request.path[1]} here")
        return row
