"""Pages as they are answered, without a browser."""

from __future__ import annotations

import asyncio
import json
import shutil
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tags_of
from streamgauge.serve.frame import as_sentence
from tests.report.sample_run import HOSTILE, single_run

from .asking import Browser, header, made_app, text_of
from .conftest import NEW, OLD, SWEPT

EVIL = '"><img src=x onerror=alert(1)>'


def get(runs: Path, address: str, *, read_only: bool = False) -> str:
    answer = asyncio.run(Browser(made_app(runs, read_only=read_only)).get(address))
    assert answer.status is HTTPStatus.OK
    return text_of(answer)


def test_a_wrong_token_is_told_where_the_next_one_is_typed(written_runs: Path) -> None:
    async def tried(**headers: str) -> tuple[HTTPStatus, str]:
        app = made_app(written_runs, token="a-token-of-some-length")
        answer = await Browser(app).ask("POST", "/login", {"token": "guessed"}, **headers)
        return answer.status, text_of(answer)

    status, shown = asyncio.run(tried())
    assert status is HTTPStatus.FORBIDDEN
    assert "This is not the token" in shown
    assert 'type="password"' in shown
    assert "guessed" not in shown
    status, told = asyncio.run(tried(accept="application/json"))
    assert status is HTTPStatus.FORBIDDEN
    assert json.loads(told)["error"].startswith("this is not the token")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("there is no such page", "There is no such page."),
        ("runs/one: missing; run it first", "runs/one: missing; run it first."),
        ("What is wrong?", "What is wrong?"),
        ("a.yaml: one\na.yaml: two", "a.yaml: one\na.yaml: two"),
    ],
)
def test_what_is_refused_reads_as_a_sentence(words: str, sentence: str) -> None:
    assert as_sentence(words) == sentence


def test_the_list_shows_what_streamgauge_runs_shows(written_runs: Path) -> None:
    page = get(written_runs, "/")
    for words in (
        OLD,
        NEW,
        SWEPT,
        "kafka",
        "1,000/s",
        "1.341",
        "247.8",
        "valid",
        "case 003 broke off",
        "nightly",
    ):
        assert words in page
    assert page.index(SWEPT) < page.index(NEW) < page.index(OLD), "newest first"
    assert "Objectives" not in page, "nothing is said of them"


def test_runs_are_found_by_words_and_by_tag(written_runs: Path) -> None:
    assert OLD in (found := get(written_runs, "/?q=ab12+kafka"))
    assert NEW not in found
    assert SWEPT not in get(written_runs, "/?tag=nightly")
    assert "No run matches" in get(written_runs, f"/?q={quote(EVIL)}")
    assert EVIL not in get(written_runs, f"/?q={quote(EVIL)}")


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    assert "There are no runs yet" in get(tmp_path / "nothing", "/")


def test_a_run_has_its_report_its_files_and_a_run_to_compare_it_with(written_runs: Path) -> None:
    page = get(written_runs, f"/runs/{NEW}")
    assert f'title="Report of {NEW}"' in page
    assert 'sandbox="allow-scripts allow-downloads"' in page
    assert "csv/cases.csv" in page
    assert f"/compare?run={OLD}&amp;run={NEW}" in page


def test_a_run_that_is_not_there_is_said_so(written_runs: Path) -> None:
    for address in (
        "/runs/nothing",
        "/runs/.git",
        "/compare?run=a&run=b",
        "/nothing",
        "/started/7",
        "/started/x",
    ):
        answer = asyncio.run(Browser(made_app(written_runs)).get(address))
        assert answer.status is HTTPStatus.NOT_FOUND
        assert "All runs" in text_of(answer)


def test_names_of_runs_and_tags_are_text_and_nothing_else(tmp_path: Path) -> None:
    name = "20260102-030405-" + EVIL.replace("/", "")
    single_run(tmp_path / name)
    page = get(tmp_path, "/")
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in get(tmp_path, f"/runs/{quote(name)}")
    assert HOSTILE not in page


def test_tags_are_added_and_removed(written_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(written_runs / OLD, tmp_path / "runs" / OLD)
    run = RunDir(str(tmp_path / "runs" / OLD))

    async def change() -> list[tuple[HTTPStatus, list[str]]]:
        browser = Browser(made_app(tmp_path / "runs"))
        found = []
        for form in ({"add": "after"}, {"remove": "nightly"}, {"add": "; rm -rf /"}, {"add": EVIL}):
            answer = await browser.post(f"/runs/{OLD}/tags", form)
            found.append((answer.status, tags_of(run)))
        return found

    added, removed, *refused = asyncio.run(change())
    assert added == (HTTPStatus.SEE_OTHER, ["nightly", "after"])
    assert removed == (HTTPStatus.SEE_OTHER, ["after"])
    assert refused == [(HTTPStatus.UNPROCESSABLE_ENTITY, ["after"])] * 2


def test_runs_are_chosen_and_compared_oldest_first(written_runs: Path) -> None:
    assert "Choose a base" in get(written_runs, "/compare")
    page = get(written_runs, f"/compare?tick={NEW}&tick={OLD}")
    assert f"/compare/page?run={OLD}&amp;run={NEW}" in page
    assert page.index("selected") < page.index('id="others"')
    difference = get(written_runs, f"/compare/page?run={OLD}&run={NEW}")
    assert "What was not the same" in difference
    assert "not comparable" in difference


@pytest.mark.parametrize("query", ["", f"run={OLD}", "&".join(f"run={n}" for n in range(9))])
def test_too_few_and_too_many_are_not_compared(written_runs: Path, query: str) -> None:
    answer = asyncio.run(Browser(made_app(written_runs)).get(f"/compare/page?{query}"))
    assert answer.status is HTTPStatus.UNPROCESSABLE_ENTITY


def test_a_workload_is_checked_while_it_is_written(written_runs: Path) -> None:
    async def check(text: str) -> list[str]:
        answer = await Browser(made_app(written_runs)).post("/start/check", {"workload": text})
        faults: list[str] = json.loads(answer.body)["faults"]
        return faults

    assert (
        asyncio.run(
            check("kind: e2e\nname: n\ntargets: [{name: k, driver: simulated}]\nload: {messages: 9}\n")
        )
        == []
    )
    [fault] = asyncio.run(check("kind: e2e\nname: n\ntargets: []\nlood: 1\n"))[:1]
    assert fault.startswith("workload: ")


def test_the_start_page_begins_with_a_workload(written_runs: Path) -> None:
    assert "kind: e2e" in get(written_runs, "/start?of=plain")
    assert "name: end-to-end" in get(written_runs, f"/start?from={OLD}")


def test_a_workload_with_faults_comes_back_with_them_and_starts_nothing(written_runs: Path) -> None:
    async def start() -> tuple[HTTPStatus, str, int]:
        app = made_app(written_runs)
        answer = await Browser(app).post("/start", {"workload": f"kind: {EVIL}", "tags": "a"})
        return answer.status, text_of(answer), len(list(written_runs.parent.glob("started/*")))

    status, page, started = asyncio.run(start())
    assert (status, started) == (HTTPStatus.UNPROCESSABLE_ENTITY, 0)
    assert "reasons bad" in page
    assert "<img" not in page


def test_read_only_means_it(written_runs: Path) -> None:
    async def tries() -> set[HTTPStatus]:
        browser = Browser(made_app(written_runs, read_only=True))
        asked = [await browser.get("/start")]
        for address in ("/start", "/start/check", f"/runs/{OLD}/tags", "/started/1/stop"):
            asked.append(await browser.post(address, {"add": "x", "workload": "kind: e2e"}))
        return {answer.status for answer in asked}

    assert asyncio.run(tries()) == {HTTPStatus.FORBIDDEN}
    assert "new tag" not in get(written_runs, f"/runs/{OLD}", read_only=True)


def test_a_method_that_is_not_for_a_page_is_refused(written_runs: Path) -> None:
    async def tries() -> list[HTTPStatus]:
        browser = Browser(made_app(written_runs))
        return [
            (await browser.post("/compare")).status,
            (await browser.ask("DELETE", f"/runs/{OLD}", {"csrf": browser.app.safety.csrf})).status,
            (await browser.ask("HEAD", "/")).status,
        ]

    assert asyncio.run(tries()) == [
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.OK,
    ]


def test_our_own_files_are_served_and_no_others(written_runs: Path) -> None:
    async def ask(name: str) -> tuple[HTTPStatus, str]:
        answer = await Browser(made_app(written_runs)).get(f"/static/{name}")
        return answer.status, header(answer, "x-content-type-options")

    for name in ("style.css", "pages.js", "live.js", "icon.svg"):
        assert asyncio.run(ask(name)) == (HTTPStatus.OK, "nosniff")
    assert asyncio.run(ask("app.py"))[0] is HTTPStatus.NOT_FOUND
