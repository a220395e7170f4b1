from __future__ import annotations

import hashlib
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.cli.finding import find_run
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.exporting import bundle
from streamgauge.exporting.bundle import MANIFEST, Bundle, is_bundle, write_bundle
from streamgauge.report.results import stored_document
from tests.exporting.exported_run import finished_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return finished_run(tmp_path_factory.mktemp("bundle"))


@pytest.fixture(scope="module")
def packed(run: RunDir, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packed") / "run.zip"
    write_bundle(run, place, with_events=False)
    return place


def test_a_bundle_holds_the_run_and_can_be_looked_at_elsewhere(
    run: RunDir, packed: Path, tmp_path: Path
) -> None:
    found = Bundle(packed)
    names = set(found.manifest.files)
    assert {"workload.yaml", "plan.json", "environment.json", "status.json", "report/index.html"} <= names
    assert not [name for name in names if name.startswith(("events/", "results/messages/"))]
    there = found.unpack(str(tmp_path / "runs"))
    assert stored_document(there) == stored_document(run)
    assert not there.has(there.report_page), "somebody else's page is not taken over"
    assert found.unpack(str(tmp_path / "runs")) == there


def test_of_the_same_run_the_bundle_is_the_same(run: RunDir, packed: Path, tmp_path: Path) -> None:
    write_bundle(run, tmp_path / "again.zip", with_events=False)
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_events_are_in_it_when_asked_for(run: RunDir, tmp_path: Path) -> None:
    manifest = write_bundle(run, tmp_path / "all.zip", with_events=True)
    assert [name for name in manifest.files if name.startswith("events/")]
    assert [name for name in manifest.files if name.startswith("results/messages/")]
    Bundle(tmp_path / "all.zip").unpack(str(tmp_path / "runs"))


def test_what_many_cases_noted_is_in_it(run: RunDir, tmp_path: Path) -> None:
    """A run of more than two hundred cases has only the last ones in status.json."""
    block = run.case_block("status", 0)
    run.write_json(block, {})
    try:
        assert block in write_bundle(run, tmp_path / "many.zip", with_events=False).files
    finally:
        run.remove(run.by_case)
    there = Bundle(tmp_path / "many.zip").unpack(str(tmp_path / "runs"))
    assert there.has(block)


def test_commands_take_a_bundle_for_a_run(packed: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "runs")
    assert find_run(str(packed), out).id == "20260101-000000-sim-0001"
    said = CliRunner().invoke(app, ["results", str(packed), "--out", out, "--csv"])
    assert said.exit_code == 0, said.output
    assert "20260101-000000-sim-0001" in said.stdout


def test_run_takes_its_workload(packed: Path) -> None:
    said = CliRunner().invoke(app, ["run", str(packed), "--print-workload"])
    assert said.exit_code == 0, said.output
    assert yaml.safe_load(said.stdout)["load"] == {"messages": 4000, "rate": 1000.0}


def test_another_run_of_the_same_name_is_not_written_over(packed: Path, tmp_path: Path) -> None:
    other = RunDir.below(str(tmp_path), "20260101-000000-sim-0001")
    other.write_text(other.plan, "{}")
    with pytest.raises(BadInput, match="another run of the same name"):
        Bundle(packed).unpack(str(tmp_path))
    assert other.read_text(other.plan) == "{}"


def test_what_is_no_archive_is_none(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_text("hello")
    assert not is_bundle(file)
    assert not is_bundle(tmp_path)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "b")
    assert not is_bundle(file)
    with pytest.raises(BadInput, match="no bundle"):
        Bundle(file)


class Forged:
    """A bundle that somebody changed: files and manifest, apart."""

    def __init__(self, packed: Path, place: Path) -> None:
        self.place = place
        with zipfile.ZipFile(packed) as archive:
            self.files: list[tuple[str | zipfile.ZipInfo, bytes]] = [
                (name, archive.read(name)) for name in archive.namelist() if name != MANIFEST
            ]
            self.manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))

    def add(self, name: str, content: bytes = b"x", *, told: bool = True) -> None:
        self.files.append((name, content))
        if told:
            self.tell(name, content)

    def tell(self, name: str, content: bytes) -> None:
        sha256 = hashlib.sha256(content).hexdigest()
        self.manifest["files"][name] = {"size_bytes": len(content), "sha256": sha256}

    def written(self) -> Path:
        with zipfile.ZipFile(self.place, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files:
                archive.writestr(name, content)
            archive.writestr(MANIFEST, json.dumps(self.manifest))
        return self.place


def _link(forged: Forged) -> None:
    entry = zipfile.ZipInfo("results/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    forged.files.append((entry, b"/etc/passwd"))
    forged.tell("results/link", b"/etc/passwd")


def _bomb(forged: Forged) -> None:
    forged.add("results/bomb.parquet", bytes(50_000_000))
    forged.manifest["files"]["results/bomb.parquet"]["size_bytes"] = 100


def _two(forged: Forged) -> None:
    forged.files.append(("plan.json", b"{}"))


def _too_much(forged: Forged) -> None:
    for number in range(3):
        forged.add(f"results/{number}.parquet")
        forged.manifest["files"][f"results/{number}.parquet"]["size_bytes"] = bundle.MOST_BYTES // 2


def _changed(forged: Forged) -> None:
    forged.files = [(name, b"{}" if name == "plan.json" else content) for name, content in forged.files]


ATTACKS: dict[str, tuple[Callable[[Forged], Any], str]] = {
    "up": (lambda forged: forged.add("results/../../escaped"), "no file of a run folder"),
    "absolute": (lambda forged: forged.add("/tmp/escaped"), "no file of a run folder"),
    "backslash": (lambda forged: forged.add("results\\..\\escaped"), "no file of a run folder|two files"),
    "drive": (lambda forged: forged.add("C:/escaped"), "no file of a run folder"),
    "hidden": (lambda forged: forged.add("results/.bashrc"), "no file of a run folder"),
    "elsewhere": (lambda forged: forged.add("live/meeting.json"), "no file of a run folder"),
    "control letters": (lambda forged: forged.add("results/a\nb"), "no file of a run folder"),
    "not told of": (lambda forged: forged.add("results/x", told=False), "manifest does not name"),
    "missing": (lambda forged: forged.tell("results/y", b""), "lacks 'results/y'"),
    "link": (_link, "is a link"),
    "bomb": (_bomb, "not what the manifest says"),
    "two of a name": (_two, "two files 'plan.json'"),
    "too much": (_too_much, "holds more than"),
    "changed": (_changed, "not what the manifest says"),
    "run's name": (lambda forged: forged.manifest.update(run="../../etc"), "no name of a run"),
    "format": (lambda forged: forged.manifest.update(format=2), "format 2 is not known"),
    "negative": (
        lambda forged: forged.manifest["files"]["plan.json"].update(size_bytes=-1),
        "greater than or equal to 0",
    ),
    "no workload": (lambda forged: forged.manifest["files"].pop("workload.yaml"), "lacks workload.yaml"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_forged_bundle_is_refused_and_writes_nothing(attack: str, packed: Path, tmp_path: Path) -> None:
    forge, said = ATTACKS[attack]
    forged = Forged(packed, tmp_path / "forged.zip")
    forge(forged)
    place = forged.written()
    with pytest.raises(BadInput, match=said) as error:
        find_run(str(place), str(tmp_path / "runs"))
    assert str(error.value).startswith(f"{place}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["forged.zip"]


def test_more_files_than_a_run_has_are_refused(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MOST_FILES", 5)
    with pytest.raises(BadInput, match="more than the 5"):
        Bundle(packed)


def test_a_damaged_archive_is_refused_in_a_line(packed: Path, tmp_path: Path) -> None:
    content = bytearray(packed.read_bytes())
    content[200:260] = bytes(60)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    with pytest.raises(BadInput) as error:
        Bundle(damaged)
    assert "\n" not in str(error.value)


def test_the_command_says_where_the_bundle_is(run: RunDir, tmp_path: Path) -> None:
    place = tmp_path / "b.zip"
    said = CliRunner().invoke(app, ["bundle", run.location, "--file", str(place)])
    assert said.exit_code == 0, said.output
    assert str(place) in said.stdout.splitlines()
    assert is_bundle(place)
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]
