"""A real Chromium, driven through its DevTools pipe.

The command-line switches alone cannot be used: a headless window is never narrower
than 500 px, so a phone's width needs the device emulation that only DevTools has.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_DEADLINE_S = 60


class Chromium:
    """One browser with one page."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._last_id = 0
        self._unread = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        program = next(filter(None, map(shutil.which, _NAMES)), None)
        if program is None:
            pytest.fail(f"no browser found: install one of {', '.join(_NAMES)} (apt-get install chromium)")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # DevTools speaks through the file descriptors 3 and 4, whatever ours are.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", program, *_SWITCHES, f"--user-data-dir={self._profile}"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            self._attach()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close", session=None)
        finally:
            self._end()

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank", session=None)["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True, session=None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _end(self) -> None:
        """Leave no browser behind, whatever state it is in."""
        os.close(self._read)
        os.close(self._write)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def open(self, page: Path, width: int, height: int, scheme: str = "light", phone: bool = False) -> None:
        """Show a file on a screen of that size, and wait until it says it is ready."""
        self.visit(page.as_uri(), width, height, scheme, phone)

    def visit(self, url: str, width: int, height: int, scheme: str = "light", phone: bool = False) -> None:
        """The same for an address."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        end = time.monotonic() + _DEADLINE_S
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise AssertionError(f"not true within {_DEADLINE_S} s: {condition}")
            time.sleep(0.05)

    def facts(self) -> dict[str, str]:
        """What the page says of itself."""
        facts: dict[str, str] = self.evaluate("({...document.documentElement.dataset})")
        return facts

    def screenshot(self, path: Path) -> None:
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        path.write_bytes(base64.b64decode(picture["data"]))

    def troubles(self) -> list[str]:
        """Exceptions, errors on the console, and every request for something outside the page."""
        return self.outside("file:")

    def outside(self, home: str) -> list[str]:
        """The same, of a page that may ask for more of where it comes from."""
        found = []
        for event in self.events:
            method, params = event["method"], event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
                found.append(str(params["args"]))
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith((home, "data:", "blob:", "about:")):
                    found.append(url)
        return found

    def call(self, method: str, session: str | None = "", **params: Any) -> Any:
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message()
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _next_message(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], _DEADLINE_S)
            chunk = os.read(self._read, 1 << 20) if ready else b""
            if not chunk:
                raise AssertionError(f"Chromium gave no answer within {_DEADLINE_S} s, or ended")
            self._unread += chunk
        message, _, self._unread = self._unread.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer
