"""What is asked of runs that are to be started, and of those that were started here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from streamgauge.core.errors import BadInput
from streamgauge.serve.child_runs import ChildRun, ChildRuns
from streamgauge.serve.requests import Answer, Refused, Request, json_answer, redirect
from streamgauge.serve.run_list import RunList
from streamgauge.serve.safety import Safety
from streamgauge.serve.start_page import child_state, start_page, started_page
from streamgauge.serve.workload_text import workload_in


@dataclass(frozen=True)
class Starter:
    """A workload to begin with."""

    words: str
    make: Callable[[], str]


class StartPages:
    def __init__(
        self, runs: RunList, safety: Safety, children: ChildRuns | None, starters: Mapping[str, Starter]
    ) -> None:
        self._runs, self._safety, self._children, self._starters = runs, safety, children, starters

    async def blank(self, request: Request) -> Answer:
        """Not quite: a workload of the chosen kind, or that of a run."""
        self._own()
        text, chosen = "", request.asked("of")
        if name := request.asked("from"):
            run = await asyncio.to_thread(self._runs.find, name)
            if run is None:
                raise Refused(HTTPStatus.NOT_FOUND, f"no such run: {name}")
            text = await asyncio.to_thread(run.read_text, run.workload)
        elif self._starters:
            chosen, text = await asyncio.to_thread(self._begun_with, chosen)
        return self._page(text, chosen=chosen)

    def _begun_with(self, chosen: str) -> tuple[str, str]:
        """The starter that was chosen; else the first that can be run as it is."""
        if chosen in self._starters:
            return chosen, self._starters[chosen].make()
        for name, starter in self._starters.items():
            text = starter.make()
            with suppress(BadInput):
                workload_in(text)
                return name, text
        return "", ""

    async def start(self, request: Request) -> Answer:
        children = self._own()
        form = request.form
        text, tags = _text(form), form.get("tags", [""])[0]
        try:
            await asyncio.to_thread(workload_in, text)
            if form.get("check"):
                return self._page(text, tags=tags, is_right=True)
            child = await children.start(text, tags.replace(",", " ").split())
        except BadInput as error:
            return self._page(text, tags=tags, faults=str(error).splitlines())
        except Refused as refused:
            return self._page(text, tags=tags, faults=[refused.message], status=refused.status)
        return redirect(f"/started/{child.number}")

    async def check(self, request: Request) -> Answer:
        self._own()
        try:
            await asyncio.to_thread(workload_in, _text(request.form))
        except BadInput as error:
            return json_answer({"faults": str(error).splitlines()})
        return json_answer({"faults": []})

    async def one(self, request: Request) -> Answer:
        return started_page(self._child(request), csrf=self._safety.csrf)

    async def state(self, request: Request) -> Answer:
        return json_answer(await asyncio.to_thread(child_state, self._child(request)))

    async def stop(self, request: Request) -> Answer:
        child = self._child(request)
        self._own().stop(child)
        return redirect(f"/started/{child.number}")

    def _page(
        self,
        text: str,
        *,
        chosen: str = "",
        tags: str = "",
        faults: Sequence[str] = (),
        is_right: bool = False,
        status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
    ) -> Answer:
        """`status`: of a text with faults."""
        made = start_page(
            text,
            csrf=self._safety.csrf,
            starters={name: starter.words for name, starter in self._starters.items()},
            chosen=chosen,
            tags=tags,
            faults=faults,
            is_right=is_right,
            children=self._own().all(),
            now_s=time.time(),
        )
        return Answer(made.body, status) if faults else made

    def _own(self) -> ChildRuns:
        if self._children is None:
            raise Refused(HTTPStatus.FORBIDDEN, "this server was started with --read-only")
        return self._children

    def _child(self, request: Request) -> ChildRun:
        child = self._own().find(request.path[1])
        if child is None:
            raise Refused(HTTPStatus.NOT_FOUND, "no such run was started here")
        return child


def _text(form: Mapping[str, list[str]]) -> str:
    return form.get("workload", [""])[0].replace("\r\n", "\n")
