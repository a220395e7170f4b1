"""A bundle: one archive with all that it takes to look at a run elsewhere, and to run it again.

It is a ZIP file with a manifest that names every file, its length and its SHA-256. Whoever reads one need not
trust who made it: names stay below the folder, lengths are held to what the manifest says, and nothing but
what a run folder has is taken. The report is in it for people, and is not unpacked: a page may do more than
show figures, and `streamgauge report` writes it anew.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.units import format_bytes
from streamgauge.plan.plan_file import read_plan

MANIFEST = "bundle.json"
FORMAT = 1
MOST_FILES, MOST_BYTES, MOST_MANIFEST_BYTES = 20_000, 8 * 1024**3, 16 * 1024**2
_ALONE = (
    RunDir.workload,
    RunDir.plan,
    RunDir.environment,
    RunDir.status,
    RunDir.search,
    RunDir.tags,
    RunDir.warm_ups,
    RunDir.faults,
)
_NEEDED = (RunDir.workload, RunDir.plan, RunDir.environment, RunDir.status)
_FOLDERS = ("results", "events", "originals", "report", RunDir.by_case)
_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}")
_PIECE = 1024 * 1024
_LINK, _TYPE = 0o120000, 0o170000
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every file: a bundle of the same run is the same, byte by byte."""


class BundledFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    size_bytes: int = Field(ge=0, le=MOST_BYTES)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """What is in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    run: str
    kind: str
    name: str
    streamgauge: str
    """The version that made the bundle."""
    versions: dict[str, Any] = {}
    """Of what the run was made with."""
    has_events: bool
    files: dict[str, BundledFile]


def write_bundle(run: RunDir, place: Path, *, with_events: bool) -> Manifest:
    """`with_events`: also what was recorded message by message, from which results can be computed anew."""
    plan = read_plan(run)
    environment = run.read_json(run.environment) if run.has(run.environment) else {}
    names = list(_names(run, with_events=with_events))
    if missing := [name for name in _NEEDED if name not in names]:
        raise CorruptRun(f"{run.location}: cannot be bundled: {', '.join(missing)} is missing")
    files: dict[str, BundledFile] = {}
    unfinished = place.with_name(f".{place.name}.unfinished")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                with (
                    run.open_input(name) as source,
                    archive.open(_entry(name), "w", force_zip64=True) as target,
                ):
                    files[name] = _copied(source, target)
            manifest = Manifest(
                format=FORMAT,
                run=run.id,
                kind=plan.kind,
                name=plan.name,
                streamgauge=version("streamgauge"),
                versions=environment.get("versions") or {},
                has_events=with_events,
                files=files,
            )
            archive.writestr(_entry(MANIFEST), manifest.model_dump_json(indent=1))
        unfinished.replace(place)
    except OSError as error:
        raise BadInput(f"{place}: cannot be written: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest


def _names(run: RunDir, *, with_events: bool) -> Iterator[str]:
    yield from (name for name in _ALONE if run.has(name))
    for folder in _FOLDERS:
        if folder == "events" and not with_events:
            continue
        for name in run.list_files(folder):
            parts = PurePosixPath(name).parts
            is_unfinished = any(part.startswith(("_", ".")) for part in parts)
            # As large as the run was long, like the events that it is made from.
            is_of_messages = name.startswith(f"{run.result('messages')}/")
            if not is_unfinished and (with_events or not is_of_messages):
                yield name


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _SAME_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _copied(source: Any, target: Any) -> BundledFile:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        target.write(piece)
    return BundledFile(size_bytes=size, sha256=digest.hexdigest())


def is_bundle(path: Path) -> bool:
    """By its content: an archive with a manifest."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


class Bundle:
    """An archive that was looked through: all that its manifest names is there, and is what it says."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                entries = self._entries(archive)
                self.manifest = self._manifest(archive, entries)
                self._checked(archive, entries)
        except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
            # RuntimeError: it is encrypted.
            self._refuse(f"cannot be read as an archive: {error}")
        except ValueError as error:  # zlib.error is one
            self._refuse(f"is damaged: {error}")

    def workload_text(self) -> str:
        return self._read(RunDir.workload).decode()

    def unpack(self, runs_folder: str) -> RunDir:
        """As a run below `runs_folder`; one that is there already is left as it is, if it is the same."""
        run = RunDir.below(runs_folder, self.manifest.run)
        if run.exists():
            same = run.has(run.plan) and run.read_text(run.plan).encode() == self._read(run.plan)
            if not same:
                self._refuse(f"{run.location} is another run of the same name; move one of them")
            return run
        try:
            for name in self.manifest.files:
                if not name.startswith(f"{run.report_folder}/"):
                    run.write_bytes(name, self._read(name))
            read_plan(run)
        except BaseException:
            run.remove("")
            raise
        return run

    def _refuse(self, why: str) -> NoReturn:
        raise BadInput(f"{self._path}: {why}")

    def _entries(self, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        infos = archive.infolist()
        if len(infos) > MOST_FILES:
            self._refuse(f"has {len(infos)} files, more than the {MOST_FILES} that a bundle may have")
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = info.filename
            if name in entries:
                self._refuse(f"has two files {name!r}")
            if info.external_attr >> 16 & _TYPE == _LINK:
                self._refuse(f"{name!r} is a link; a bundle has files only")
            entries[name] = info
        return entries

    def _manifest(self, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Manifest:
        if MANIFEST not in entries:
            self._refuse(f"is no bundle: it has no {MANIFEST}")
        with archive.open(MANIFEST) as stream:
            text = stream.read(MOST_MANIFEST_BYTES + 1)
        if len(text) > MOST_MANIFEST_BYTES:
            self._refuse(f"{MANIFEST} is larger than {format_bytes(MOST_MANIFEST_BYTES)}")
        try:
            content = json.loads(text)
            made_by = content.get("format") if isinstance(content, dict) else None
            if made_by != FORMAT:
                self._refuse(f"{MANIFEST}: format {made_by!r} is not known here; this version reads {FORMAT}")
            return Manifest.model_validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            self._refuse(f"{MANIFEST}: {place}: {first['msg']}")
        except RecursionError:
            self._refuse(f"{MANIFEST}: is nested too deeply")

    def _checked(self, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> None:
        manifest = self.manifest
        if not _RUN_NAME.fullmatch(manifest.run):
            self._refuse(f"{MANIFEST}: {manifest.run!r} is no name of a run")
        if missing := [name for name in _NEEDED if name not in manifest.files]:
            self._refuse(f"lacks {', '.join(missing)}")
        if strange := sorted(set(entries) - {MANIFEST, *manifest.files}):
            self._refuse(f"has a file that its manifest does not name: {strange[0]!r}")
        if sum(file.size_bytes for file in manifest.files.values()) > MOST_BYTES:
            self._refuse(f"holds more than {format_bytes(MOST_BYTES)}")
        for name, file in manifest.files.items():
            if not _is_of_a_run(name):
                self._refuse(f"{name!r} is no file of a run folder")
            if name not in entries:
                self._refuse(f"lacks {name!r}, which its manifest names")
            with archive.open(name) as stream:
                self._same(name, file, stream)

    def _same(self, name: str, file: BundledFile, stream: Any) -> None:
        """Read as far as the manifest says, and no further: what unpacks to more is refused there."""
        digest, size = hashlib.sha256(), 0
        while piece := stream.read(min(_PIECE, file.size_bytes + 1 - size)):
            size += len(piece)
            digest.update(piece)
            if size > file.size_bytes:
                break
        if size != file.size_bytes or digest.hexdigest() != file.sha256:
            self._refuse(f"{name!r} is not what the manifest says: damaged, or changed")

    def _read(self, name: str) -> bytes:
        """One file, held to the length and the sum that were checked, whoever changed the archive since."""
        file = self.manifest.files[name]
        with zipfile.ZipFile(self._path) as archive, archive.open(name) as stream:
            content = stream.read(file.size_bytes + 1)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            self._refuse(f"{name!r} changed while it was read")
        return content


def _is_of_a_run(name: str) -> bool:
    """A plain path below one of a run's own folders, or one of its own files."""
    if name in _ALONE:
        return True
    parts = name.split("/")
    is_plain = all(re.fullmatch(r"[A-Za-z0-9=][A-Za-z0-9_.=, +-]*", part) for part in parts)
    return is_plain and len(parts) > 1 and parts[0] in _FOLDERS
