"""Attempts to come in where one may not, and to act in a user's name from elsewhere."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from pathlib import Path

import pytest

from streamgauge.serve.requests import Answer
from streamgauge.serve.safety import PAGE_POLICY

from .asking import HOST, Browser, header, made_app, report_address, served, text_of
from .conftest import OLD

TOKEN = "a-token-of-some-length"
TAGS = f"/runs/{OLD}/tags"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8723", "localhost.evil.example", "", "127.0.0.1, evil.example"]
)
def test_a_name_that_others_let_lead_here_is_refused(written_runs: Path, host: str) -> None:
    app = made_app(written_runs)
    answer = asyncio.run(Browser(app).get("/", host=host))
    assert answer.status is HTTPStatus.MISDIRECTED_REQUEST
    assert header(answer, "content-security-policy") == PAGE_POLICY
    assert OLD not in text_of(answer)


@pytest.mark.parametrize("host", [HOST, "localhost:9000", "[::1]:80", "127.0.0.1"])
def test_this_machine_may_be_asked_for_by_its_own_names(written_runs: Path, host: str) -> None:
    assert asyncio.run(Browser(made_app(written_runs)).get("/", host=host)).status is HTTPStatus.OK


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": f"http://{HOST}", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_from_elsewhere_changes_nothing_even_with_our_cookie_and_form(
    written_runs: Path, headers: dict[str, str]
) -> None:
    answer = asyncio.run(Browser(made_app(written_runs)).post(TAGS, {"add": "forged"}, **headers))
    assert answer.status is HTTPStatus.FORBIDDEN
    assert not (written_runs / OLD / "tags.json").read_text().count("forged")


def test_without_what_our_form_has_nothing_is_changed(written_runs: Path) -> None:
    async def forge() -> list[HTTPStatus]:
        browser = Browser(made_app(written_runs))
        await browser.get("/")
        forged = [
            await browser.ask("POST", TAGS, {"add": "forged"}),
            await browser.ask("POST", TAGS, {"add": "forged", "csrf": "0" * 64}),
            await browser.ask("POST", "/start/check", {"workload": "kind: e2e"}, x_csrf_token="guessed"),
        ]
        cookie, browser.cookie = browser.cookie, ""
        forged.append(await browser.ask("POST", TAGS, {"add": "forged", "csrf": browser.app.safety.csrf}))
        assert cookie
        return [answer.status for answer in forged]

    assert asyncio.run(forge()) == [HTTPStatus.FORBIDDEN] * 4
    assert "forged" not in (written_runs / OLD / "tags.json").read_text()


def test_another_site_may_link_here_but_not_load_from_here(written_runs: Path) -> None:
    async def visits() -> tuple[Answer, Answer]:
        browser = Browser(made_app(written_runs))
        linked = await browser.get("/", sec_fetch_site="cross-site", sec_fetch_mode="navigate")
        loaded = await browser.get("/static/pages.js", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
        return linked, loaded

    linked, loaded = asyncio.run(visits())
    assert (linked.status, loaded.status) == (HTTPStatus.OK, HTTPStatus.FORBIDDEN)


def test_browsers_are_told_to_run_nothing_that_is_not_ours(written_runs: Path) -> None:
    async def pages() -> tuple[Answer, Answer]:
        browser = Browser(made_app(written_runs))
        page = await browser.get(f"/runs/{OLD}")
        return page, await browser.get(report_address(text_of(page)))

    page, report = asyncio.run(pages())
    assert header(page, "content-security-policy") == PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
    assert header(page, "x-frame-options") == "DENY"
    assert header(page, "referrer-policy") == "same-origin", "with less, our own forms come without an origin"
    assert header(page, "x-content-type-options") == "nosniff"
    assert "SameSite=Strict" in header(page, "set-cookie")
    assert "HttpOnly" in header(page, "set-cookie")
    # A report is a file of whoever made the run: it runs as nobody, and sends nothing.
    policy = header(report, "content-security-policy")
    assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none'")
    assert "same-origin" not in policy
    assert header(report, "set-cookie") == ""


def test_with_a_token_nothing_is_seen_without_it(written_runs: Path) -> None:
    async def visits() -> None:
        app = made_app(written_runs, token=TOKEN)
        stranger = Browser(app)
        for address in ("/", f"/runs/{OLD}", "/compare", "/start", f"/runs/{OLD}/live/events"):
            answer = await stranger.get(address)
            assert (answer.status, header(answer, "location")) == (HTTPStatus.SEE_OTHER, "/login")
            assert header(answer, "set-cookie") == ""
        forged = await stranger.ask("POST", TAGS, {"add": "forged", "csrf": app.safety.csrf})
        assert header(forged, "location") == "/login"
        assert (await stranger.get("/?token=wrong-and-long-enough")).status is HTTPStatus.FORBIDDEN
        assert (await stranger.get("/login")).status is HTTPStatus.OK
        welcome = await stranger.get(f"/runs/{OLD}?token={TOKEN}")
        assert (welcome.status, header(welcome, "location")) == (HTTPStatus.SEE_OTHER, f"/runs/{OLD}")
        page = await stranger.get(f"/runs/{OLD}")
        assert page.status is HTTPStatus.OK
        assert TOKEN not in text_of(page)
        by_form = Browser(app)
        assert header(await by_form.ask("POST", "/login", {"token": TOKEN}), "location") == "/"
        assert (await by_form.get("/")).status is HTTPStatus.OK

    asyncio.run(visits())


def test_a_program_comes_with_the_token_in_a_header_and_needs_no_form(written_runs: Path) -> None:
    async def visits() -> list[HTTPStatus]:
        browser = Browser(made_app(written_runs, token=TOKEN))
        right = await browser.get("/", authorization=f"Bearer {TOKEN}")
        wrong = await browser.get("/", authorization="Bearer another")
        checked = await browser.ask(
            "POST", "/start/check", {"workload": "kind: e2e"}, authorization=f"Bearer {TOKEN}"
        )
        return [right.status, wrong.status, checked.status]

    assert asyncio.run(visits()) == [HTTPStatus.OK, HTTPStatus.SEE_OTHER, HTTPStatus.OK]


def test_tokens_cannot_be_tried_one_after_another(written_runs: Path) -> None:
    async def guess() -> tuple[HTTPStatus, HTTPStatus]:
        browser = Browser(made_app(written_runs, token=TOKEN))
        answers = [await browser.get(f"/?token=guess-{n}") for n in range(40)]
        return answers[-1].status, (await browser.get(f"/?token={TOKEN}")).status

    assert asyncio.run(guess()) == (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.TOO_MANY_REQUESTS)


def test_a_report_is_opened_with_its_own_key_alone(written_runs: Path) -> None:
    async def visits() -> list[HTTPStatus]:
        app = made_app(written_runs, token=TOKEN)
        stranger, key = Browser(app), app.safety.report_key(OLD)
        asked = [
            f"/reports/{key}/{OLD}/",
            f"/reports/{key}/20260103-030405-end-to-end-ab34/",
            f"/reports/x/{OLD}/",
        ]
        return [(await stranger.get(address)).status for address in asked]

    assert asyncio.run(visits()) == [HTTPStatus.OK, HTTPStatus.NOT_FOUND, HTTPStatus.NOT_FOUND]


def test_who_guesses_locks_nobody_out_but_himself(written_runs: Path) -> None:
    async def guess() -> tuple[HTTPStatus, HTTPStatus]:
        app = made_app(written_runs, token=TOKEN)
        stranger, owner = Browser(app, "198.51.100.7"), Browser(app, "192.0.2.1")
        guesses = [await stranger.get(f"/?token=guess-{n}") for n in range(40)]
        return guesses[-1].status, (await owner.get(f"/?token={TOKEN}")).status

    assert asyncio.run(guess()) == (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SEE_OTHER)


def test_the_peer_is_the_address_of_the_socket(written_runs: Path) -> None:
    seen: list[str] = []
    with served(made_app(written_runs)) as running:
        check = running.app.safety.check
        running.app.safety.check = lambda request: seen.append(request.peer) or check(request)  # type: ignore[method-assign,func-returns-value]
        running.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert seen == ["127.0.0.1"]
