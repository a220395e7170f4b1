"""All pages, and who answers for which path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus

from streamgauge.core.errors import BadInput, CorruptRun, StreamgaugeError
from streamgauge.report.markup import tag
from streamgauge.serve.child_runs import ChildRuns
from streamgauge.serve.frame import as_sentence, form, message_page, page, static, title
from streamgauge.serve.live_feed import LiveFeeds
from streamgauge.serve.requests import Answer, Flow, Refused, Request, json_answer
from streamgauge.serve.run_list import RunList
from streamgauge.serve.run_pages import RunPages
from streamgauge.serve.safety import LOGIN_PATH, TOKEN_FIELD, Safety
from streamgauge.serve.start_pages import Starter, StartPages

MOST_VIEWERS = 200

Page = Callable[[Request], Awaitable[Answer | Flow]]


class App:
    def __init__(
        self,
        runs: RunList,
        safety: Safety,
        children: ChildRuns | None,
        starters: Mapping[str, Starter] | None = None,
        feeds: LiveFeeds | None = None,
    ) -> None:
        """`children`: None where nothing is started, stopped or tagged from here."""
        self.safety, self._children = safety, children
        self.feeds = feeds or LiveFeeds(MOST_VIEWERS)
        of_runs = RunPages(runs, safety, children, self.feeds)
        of_starts = StartPages(runs, safety, children, starters or {})
        self._pages: Sequence[tuple[str, tuple[str, ...], Page]] = (
            ("GET", (), of_runs.every),
            ("GET", ("static", "*"), self._static),
            ("GET", LOGIN_PATH, self._login),
            ("POST", LOGIN_PATH, self._logged_in),
            ("GET", ("runs", "*"), of_runs.one),
            ("POST", ("runs", "*", "tags"), of_runs.tag),
            ("GET", ("runs", "*", "live"), of_runs.live),
            ("GET", ("runs", "*", "live", "events"), of_runs.events),
            ("GET", ("reports", "*", "*"), of_runs.report),
            ("GET", ("reports", "*", "*", "**"), of_runs.report),
            ("GET", ("compare",), of_runs.compare),
            ("GET", ("compare", "page"), of_runs.difference),
            ("GET", ("start",), of_starts.blank),
            ("POST", ("start",), of_starts.start),
            ("POST", ("start", "check"), of_starts.check),
            ("GET", ("started", "*"), of_starts.one),
            ("GET", ("started", "*", "state"), of_starts.state),
            ("POST", ("started", "*", "stop"), of_starts.stop),
        )

    async def __call__(self, request: Request) -> Answer | Flow:
        try:
            answer = self.safety.check(request) or await self._page_of(request)(request)
        except Refused as refused:
            answer = _refusal(request, refused.status, refused.message)
        except CorruptRun as error:
            answer = _refusal(request, HTTPStatus.NOT_FOUND, str(error))
        except BadInput as error:
            answer = _refusal(request, HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
        except StreamgaugeError as error:
            answer = _refusal(request, HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        return self.safety.dressed(answer, request)

    async def close(self) -> None:
        await self.feeds.close()
        if self._children is not None:
            await self._children.close()

    def _page_of(self, request: Request) -> Page:
        method = "GET" if request.method == "HEAD" else request.method
        known = [(allowed, page) for allowed, path, page in self._pages if _is_like(request.path, path)]
        for allowed, found in known:
            if allowed == method:
                return found
        if known:
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, f"this page does not accept {request.method}")
        raise Refused(HTTPStatus.NOT_FOUND, "there is no such page")

    async def _static(self, request: Request) -> Answer:
        found = static(request.path[1])
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such file")
        return found

    async def _login(self, request: Request) -> Answer:
        return _login_page()

    async def _logged_in(self, request: Request) -> Answer:
        try:
            return self.safety.log_in(request.form.get(TOKEN_FIELD, [""])[0], request)
        except Refused as refused:
            if _wants_json(request):
                raise
            return _login_page(refused)


def _login_page(refused: Refused | None = None) -> Answer:
    """`refused`: why the last token was not taken; the next one is typed right below."""
    token = tag(
        "input",
        type="password",
        id="token",
        name_=TOKEN_FIELD,
        required=True,
        autocomplete="off",
        aria_invalid="true" if refused else None,
        aria_describedby="fault" if refused else None,
    )
    fault = refused and tag("p", as_sentence(refused.message), class_="fault", id="fault", role="alert")
    body = (
        title("Token", "Log in"),
        tag("p", "Enter the token that streamgauge serve printed when it was started.", class_="about"),
        *([fault] if fault else []),
        form(
            "/login",
            "",
            tag("div", tag("label", "Token", for_="token"), token, class_="field grows"),
            tag("button", "Log in", type="submit"),
            class_="row login",
        ),
    )
    return page("Log in", body, is_bare=True, status=refused.status if refused else HTTPStatus.OK)


def _refusal(request: Request, status: HTTPStatus, words: str) -> Answer:
    if _wants_json(request):
        return json_answer({"error": words}, status)
    heading = status.phrase.capitalize()
    return message_page(heading, as_sentence(words), status, is_bare=status is HTTPStatus.FORBIDDEN)


def _wants_json(request: Request) -> bool:
    return "json" in request.headers.get("accept", "")


def _is_like(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """`*` stands for one piece, `**` at the end for one or more."""
    if pattern[-1:] == ("**",):
        return len(path) >= len(pattern) and _is_like(path[: len(pattern) - 1], pattern[:-1])
    return len(path) == len(pattern) and all(of in ("*", own) for own, of in zip(path, pattern, strict=True))
