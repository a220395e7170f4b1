"""The demo page in a real browser, with the official web client, on a real gateway and a real Kafka."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.gateway.server.authentication import hash_token

from ...cli.streamgauge_command import command
from ...report.chromium import Chromium
from ..connector.kafka_side import Sender, new_topic

pytestmark = [pytest.mark.broker, pytest.mark.browser]

CONFIG = """
adapter_set: Demo
connections:
  Stocks:
    bootstrap.servers: {kafka}
    record.consume.from: EARLIEST
    record.value.evaluator.type: JSON
    item-template.s: "stock-#{{key=KEY}}"
    map.{topic}.to: [item-template.s, all]
    field: {{name: "#{{VALUE.name}}", price: "#{{VALUE.price}}"}}
  List:
    bootstrap.servers: {kafka}
    record.consume.from: EARLIEST
    fields.auto.command.mode.enable: true
    map.{listed}.to: list
    field: {{key: "#{{KEY}}", text: "#{{VALUE}}"}}
"""


@pytest.fixture(scope="module")
def topics(kafka: str) -> tuple[str, str]:
    return new_topic(kafka), new_topic(kafka)


@pytest.fixture(scope="module")
def gateway(kafka: str, topics: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `streamgauge gateway`, as a user runs it."""
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "gateway.yaml").write_text(CONFIG.format(kafka=kafka, topic=topics[0], listed=topics[1]))
    (folder / "users.txt").write_text(f"*:{hash_token('open sesame, please')}\n")
    with _running(folder, "--users", str(folder / "users.txt")) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(60) == 0


def _running(folder: Path, *flags: str) -> subprocess.Popen[str]:
    arguments = command("gateway", "--config", folder / "gateway.yaml", "--port", "0", *flags)
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)


def fill_in(browser: Chromium, **values: str) -> None:
    for field, value in values.items():
        browser.evaluate(f"document.getElementById({field!r}).value = {value!r}")
        browser.evaluate(f"document.getElementById({field!r}).dispatchEvent(new Event('change'))")


def subscribe(browser: Chromium) -> None:
    browser.evaluate("document.querySelector('button[type=submit]').click()")


def rows(browser: Chromium) -> list[list[str]]:
    found: list[list[str]] = browser.evaluate(
        "[...document.querySelectorAll('#rows tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    return found


def test_updates_reach_the_page(
    browser: Chromium, gateway: str, kafka: str, topics: tuple[str, str], tmp_path: Path
) -> None:
    send = Sender(kafka)
    browser.visit(gateway + "/", 1200, 800)
    assert browser.evaluate("document.getElementById('items').placeholder") == "all  or  stock-[key=…]"
    fill_in(browser, items="stock-[key=a] stock-[key=b]", password="open sesame, please")
    subscribe(browser)
    browser.wait_for("document.documentElement.dataset.subscribed === 'yes'")
    assert browser.facts()["status"] == "CONNECTED:WS-STREAMING"
    send(topics[0], b'{"name": "A & <b>", "price": 1.5}', key="a")
    send(topics[0], b'{"name": "B", "price": null}', key="b")
    browser.wait_for("document.documentElement.dataset.updates === '2'")
    send(topics[0], b'{"name": "A & <b>", "price": 2}', key="a")
    browser.wait_for("document.documentElement.dataset.updates === '3'")
    assert sorted(rows(browser)) == [["stock-[key=a]", "A & <b>", "2"], ["stock-[key=b]", "B", "null"]]
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 5_000
    browser.evaluate("document.getElementById('stop').click()")
    browser.wait_for("document.documentElement.dataset.subscribed === 'no'")
    assert browser.outside(gateway) == []


def test_a_list_grows_and_shrinks(
    browser: Chromium, gateway: str, kafka: str, topics: tuple[str, str]
) -> None:
    send = Sender(kafka)
    browser.visit(gateway + "/", 1200, 800)
    fill_in(browser, connection="List", password="open sesame, please")
    assert browser.evaluate("document.getElementById('mode').value") == "COMMAND"
    subscribe(browser)
    browser.wait_for("document.documentElement.dataset.subscribed === 'yes'")
    send(topics[1], b"one", key="1")
    send(topics[1], b"two", key="2")
    browser.wait_for("document.querySelectorAll('#rows tr').length === 2")
    send(topics[1], b"uno", key="1")
    send(topics[1], None, key="2")
    browser.wait_for("document.querySelectorAll('#rows tr').length === 1")
    assert rows(browser)[0][1:3] == ["1", "uno"]


def test_refusals_are_shown_in_words(browser: Chromium, gateway: str) -> None:
    browser.visit(gateway + "/", 1200, 800)
    fill_in(browser, password="a guess")
    subscribe(browser)
    browser.wait_for("!document.getElementById('note').hidden")
    assert browser.facts()["note"] == "The gateway refuses the session (1): user or password is wrong"
    fill_in(browser, password="open sesame, please", items="nope")
    subscribe(browser)
    browser.wait_for("document.documentElement.dataset.note.startsWith('Subscription refused (21)')")
    assert "does not match any of the defined item templates" in browser.facts()["note"]


@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_the_screen(browser: Chromium, gateway: str, width: int) -> None:
    browser.visit(gateway + "/", width, 800, phone=width < 500)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
