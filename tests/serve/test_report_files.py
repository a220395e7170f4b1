from __future__ import annotations

import shutil
from http import HTTPStatus
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.serve.report_files import page_of, report_file, report_names
from streamgauge.serve.requests import Refused

from .asking import header, made_app, served, text_of
from .conftest import OLD

SECRET = "the content of another file"


@pytest.fixture
def run(written_runs: Path, tmp_path: Path) -> RunDir:
    shutil.copytree(written_runs / OLD, tmp_path / "runs" / OLD)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "runs" / OLD / "secret.txt").write_text(SECRET)
    return RunDir(str(tmp_path / "runs" / OLD))


def test_files_of_a_report_are_had_by_their_names(run: RunDir) -> None:
    names = report_names(run)
    assert "report.md" in names
    table = next(name for name in names if name.endswith(".csv"))
    answer = report_file(run, table.split("/"))
    assert answer.body == run.local(f"report/{table}").read_bytes()
    assert header(answer, "content-disposition") == "attachment"


@pytest.mark.parametrize(
    "pieces",
    [
        ("..", "secret.txt"),
        ("..", "..", "..", "secret.txt"),
        ("..", "status.json"),
        ("csv", "..", "..", "environment.json"),
        (".hidden",),
        ("csv",),
        ("nothing",),
        (),
        ("a" * 5000,),
        ("csv\0",),
    ],
)
def test_what_is_not_in_the_report_is_not_there(run: RunDir, pieces: tuple[str, ...]) -> None:
    run.local("report/.hidden").write_text(SECRET)
    with pytest.raises(Refused) as refused:
        report_file(run, pieces)
    assert refused.value.status is HTTPStatus.NOT_FOUND


def test_links_lead_out_of_no_report(run: RunDir, tmp_path: Path) -> None:
    report = run.local("report")
    (report / "link.txt").symlink_to(tmp_path / "secret.txt")
    (report / "near.txt").symlink_to("../secret.txt")
    (report / "folder").symlink_to(tmp_path)
    (report / "loop").symlink_to("loop")
    for pieces in (("link.txt",), ("near.txt",), ("folder", "secret.txt"), ("loop",)):
        with pytest.raises(Refused):
            report_file(run, pieces)
    (report / "own.md").symlink_to("report.md")
    assert report_file(run, ("own.md",)).body == (report / "report.md").read_bytes()


def test_a_page_that_is_a_link_is_not_shown(run: RunDir, tmp_path: Path) -> None:
    page = run.local(run.report_page)
    page.unlink()
    page.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(Refused):
        page_of(run)


def test_a_report_folder_that_is_a_link_is_none(run: RunDir, tmp_path: Path) -> None:
    shutil.move(run.local("report"), tmp_path / "elsewhere")
    run.local("report").symlink_to(tmp_path)
    with pytest.raises(Refused):
        report_file(run, ("secret.txt",))


def test_a_page_that_was_not_written_is_made(run: RunDir) -> None:
    written = page_of(run)
    run.remove(run.report_page)
    assert "<h1>end-to-end" in text_of(page_of(run))
    assert header(page_of(run), "content-security-policy") == header(written, "content-security-policy")


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fsecret.txt",
        "%2e%2e/secret.txt",
        "..%5csecret.txt",
        "csv/%2e%2e/%2e%2e/secret.txt",
        "/etc/passwd",
    ],
)
def test_no_way_of_writing_it_leads_out(run: RunDir, name: str) -> None:
    """Over a socket, as somebody who holds the report's key may try."""
    app = made_app(Path(run.parent))
    address = f"/reports/{app.safety.report_key(OLD)}/{OLD}/{name}"
    with served(app) as running:
        answer = running.raw(
            f"GET {address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert SECRET.encode() not in answer
