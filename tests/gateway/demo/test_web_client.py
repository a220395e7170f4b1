from __future__ import annotations

import base64
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.gateway.demo import web_client as module
from streamgauge.gateway.demo.web_client import (
    REGISTRY,
    Locked,
    WebClientUnavailable,
    read_lock,
    registry_url,
    web_client,
)

SCRIPT = b"var lightstreamer = {};"


def package(script: bytes = SCRIPT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("package/client.js")
        entry.size = len(script)
        archive.addfile(entry, io.BytesIO(script))
    return out.getvalue()


class Npm(http.server.ThreadingHTTPServer):
    """A registry with one package."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.asked = content, list[str]()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Npm

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if not self.server.content:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Npm]:
    content = package()
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    locked = Locked("some-client", "1.2.3", integrity, "package/client.js")
    monkeypatch.setattr(module, "read_lock", lambda: locked)
    with Npm(content) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        monkeypatch.setenv("STREAMGAUGE_NPM_URL", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
        yield server
        server.shutdown()
        thread.join()


def test_it_is_fetched_once_and_kept(npm: Npm) -> None:
    assert web_client() == SCRIPT
    assert web_client() == SCRIPT
    assert npm.asked == ["/some-client/-/some-client-1.2.3.tgz"]


def test_what_is_damaged_in_the_cache_is_fetched_anew(npm: Npm, tmp_path: Path) -> None:
    web_client()
    [kept] = (tmp_path / "cache" / "npm").iterdir()
    kept.write_bytes(b"damaged")
    assert web_client() == SCRIPT
    assert len(npm.asked) == 2


def test_another_package_than_the_locked_one_is_refused(npm: Npm) -> None:
    npm.content = package(b"var evil;")
    with pytest.raises(
        WebClientUnavailable, match=r"some-client 1\.2\.3: what was fetched is not what the lock"
    ):
        web_client()


def test_a_registry_that_does_not_answer_is_named(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm.content = b""
    with pytest.raises(WebClientUnavailable, match=r"Service Unavailable; set STREAMGAUGE_NPM_URL"):
        web_client()
    for url in ("http://127.0.0.1:1", "nonsense"):
        monkeypatch.setenv("STREAMGAUGE_NPM_URL", url)
        with pytest.raises(WebClientUnavailable, match=f"{url}/some-client"):
            web_client()


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(
    npm: Npm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "file"))
    assert web_client() == SCRIPT


def test_where_npm_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STREAMGAUGE_NPM_URL", "npm_config_registry"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert registry_url() == REGISTRY
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://npm.example/x/\n")
    assert registry_url() == "https://npm.example/x"
    monkeypatch.setenv("npm_config_registry", "https://other.example/")
    assert registry_url() == "https://other.example"
    monkeypatch.setenv("STREAMGAUGE_NPM_URL", "https://ours.example")
    assert registry_url() == "https://ours.example"


def test_the_lock_names_the_official_client() -> None:
    locked = read_lock()
    assert locked.package == "lightstreamer-client-web"
    assert locked.integrity.startswith("sha512-")
