"""`python -m tools.docs_pictures`: the pictures of docs/pictures, of reports of runs that are made now.

Each family is run once, small, and its report is opened in a headless Chromium. A picture in the docs is of a
run whose figures may be quoted: one that is not green leaves the old picture as it is, and says why.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.comparing.simulated_pairs import simulated
from tests.importing.samples import OMB
from tests.report.chromium import Chromium
from tests.serve.asking import made_app, served

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.report.write import write_report

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, HEIGHT = 1040, 1180
DEADLINE_S = 900
_LIMIT = """\
kind: limit
name: limit
targets:
  - name: pretend
    driver: simulated
    settings: {seed: 7, capacity_per_s: 3210, latency: {law: lognormal, median_ms: 2, sigma: 0.3}}
load: {duration: 5s}
objectives: ["p99<20ms", lost=0]
search: {from: 500/s, within_percent: 5}
"""

_SWEEP = """\
kind: sweep
name: sweep
targets:
  - name: kafka
    driver: kafka_confluent
    producer_client: {linger.ms: 0}
    consumer_client: {fetch.min.bytes: 1, fetch.queue.backoff.ms: 2, fetch.wait.max.ms: 100}
    system: {kind: kafka_cluster}
load:
  streams: per_partition   # one pair of clients: what a machine of two cores holds beside its broker
  messages: 7000
  rate: 1k/s
  warm_up_messages: auto
  topics: {name: sweep, own_names: true}
sweep:
  message.size: [100, 1KiB, 10KiB]
  acks: ["1", all]
iterations: 2
"""

_TRANSPORTS = """\
kind: transports
name: transports
targets:
  - {name: harness, driver: simulated, settings: {time: real}}
  - name: kafka
    driver: kafka_confluent
    settings: {linger_ms: 0, fetch_min_bytes: 1, fetch_max_wait_ms: 100}
    consumer_client: {fetch.queue.backoff.ms: 2}
    system: {kind: kafka_cluster}
  - {name: zeromq, driver: zeromq}
load:
  messages: 6000
  rate: 1k/s
  message: {size: {protobuf: order}}
  topics: {name: transports, own_names: true}
  proof: true
  precedence: real_time   # what zeromq and the harness take is less than an ordinary thread is late
cases:
  - {rate: 500/s, messages: 3000, warm_up_messages: auto}
  - {rate: 1k/s, messages: 6000, warm_up_messages: auto}
harness: harness
"""

FILES = {
    "omb-result.json": OMB,
    "limit.yaml": _LIMIT,
    "sweep.yaml": _SWEEP,
    "transports.yaml": _TRANSPORTS,
}
"""What the commands read."""

Page = tuple[str, int, int] | None
"""Its address, and how much of it is shown, width and height; None: it is not to be shown."""


@dataclass(frozen=True)
class Picture:
    arguments: tuple[str, ...]
    height: int = HEIGHT
    is_judged: bool = True
    """Whether its run can be green at all."""


_SHORT = ("--warm-up-limit", "25s")
FAMILIES = {
    "e2e": Picture(("e2e", "--producers", "2", "--consumers", "2", "--rate", "1k/s", "--duration", "15s")),
    "sweep": Picture(("run", "sweep.yaml")),
    "limit": Picture(("run", "limit.yaml")),
    "compare": Picture(
        (
            *("compare", "--a", "kafka_java", "--b", "kafka_confluent"),
            *("--size", "10,1000", "--messages", "10,100,1000", "--repeat", "10", *_SHORT),
        ),
    ),
    "transports": Picture(("run", "transports.yaml")),
    "fanout": Picture(
        (
            *("fanout", "--scenario", "2", "--via", "gateway,kafka-groups"),
            # Fewer of the gateway's clients, at 2.5 updates a second each, are too few for a p99 in 10 s.
            *("--clients", "50,75,100", "--duration", "10s"),
        ),
    ),
    "imported": Picture(("import", "omb-result.json"), height=900, is_judged=False),
}
"""By family; the name of the picture is that of the family."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.docs_pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join((*FAMILIES, *OTHERS))}; all")
    parser.add_argument("--anyway", action="store_true", help="also of runs whose figures may not be quoted")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    wanted = asked.names or [*FAMILIES, *OTHERS]
    if unknown := [name for name in wanted if name not in (*FAMILIES, *OTHERS)]:
        parser.error(f"{unknown[0]}: allowed: {', '.join((*FAMILIES, *OTHERS))}")
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="docs-pictures-") as made:
        results = [take(name, Path(made, name), asked.folder, anyway=asked.anyway) for name in wanted]
    return 0 if all(results) else 1


def take(name: str, place: Path, into: Path, *, anyway: bool = False) -> bool:
    """One picture; False: the old one was left as it is."""
    place.mkdir()
    shown = OTHERS[name] if name in OTHERS else partial(_report, name, anyway)
    with shown(place) as found:
        if found is None:
            return False
        url, width, height = found
        with Chromium(place / "profile") as browser:
            browser.call("Emulation.setScrollbarsHidden", hidden=True)
            browser.visit(url, width, height)
            browser.screenshot(into / f"{name}.png")
    print(into / f"{name}.png", flush=True)
    return True


@contextmanager
def _report(name: str, anyway: bool, place: Path) -> Iterator[Page]:
    picture = FAMILIES[name]
    for file, text in FILES.items():
        (place / file).write_text(text, "utf-8")
    run = made_run(place, *picture.arguments)
    document = json.loads(streamgauge(place, "results", str(run), "--json"))
    verdicts = {each: document[each] for each in ("integrity", "validity")}
    is_green = not picture.is_judged or verdicts == {"integrity": "ok", "validity": "valid"}
    if not is_green:
        print(streamgauge(place, "results", str(run)), file=sys.stderr)
        print(f"{name}: its figures may not be quoted: {verdicts}", file=sys.stderr, flush=True)
    yield ((run / RunDir.report_page).as_uri(), WIDTH, picture.height) if is_green or anyway else None


@contextmanager
def _diff(place: Path) -> Iterator[Page]:
    before, after = _two_runs(place)
    streamgauge(place, "diff", str(before), str(after), "--html", "diff.html")
    yield (place / "diff.html").as_uri(), WIDTH, 1000


@contextmanager
def _serve(place: Path) -> Iterator[Page]:
    _two_runs(place)
    with served(made_app(place / "runs")) as running:
        yield running.home, 1280, 560


OTHERS: dict[str, Callable[[Path], AbstractContextManager[Page]]] = {"diff": _diff, "serve": _serve}
"""What is no family's."""


def _two_runs(place: Path) -> tuple[Path, Path]:
    """Of the same workload, before and after its latency rose by a third. Nothing but time is simulated, so
    they are made in this process, without Spark."""
    runs = []
    for day, (tag, median_ms) in enumerate((("before", 2.0), ("after", 2.7)), 1):
        name = f"2026010{day}-030405-orders-ab{day}{day}"
        run = simulated(place / "runs", median_ms, seed=day, name=name, messages=20_000, rate=2000)
        tag_run(run, [tag])
        write_report(run)
        runs.append(run.local())
    return runs[0], runs[1]


def made_run(place: Path, *arguments: str) -> Path:
    before = set((place / "runs").glob("*"))
    streamgauge(place, *arguments)
    [run] = set((place / "runs").glob("*")) - before
    return run


def streamgauge(place: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "streamgauge.cli.main", *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    # A missed objective is a result, too.
    if done.returncode not in (0, 1):
        raise SystemExit(f"streamgauge {' '.join(arguments)} ended with exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
