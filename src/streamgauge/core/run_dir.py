"""A run's folder: every path in it, and the only place that joins paths.

The folder may be a local path or a URL: reading and writing go through pyarrow's file systems, so that no
stage assumes a disk shared by all hosts. `file://`, `s3a://` and `gs://` are pyarrow's own, and every agent
writes there; all else, as `hdfs://`, is Spark's (launch/hadoop_files), which only the launcher has.
"""

from __future__ import annotations

import calendar
import contextlib
import errno
import json
import os
import posixpath
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.other_schemes import other_schemes
from streamgauge.core.served_files import served_files

_STAMP, _STAMP_LENGTH = "%Y%m%d-%H%M%S", 15
_UNFINISHED = re.compile(r"_.+\.[0-9a-f]{8}")
_REGION = re.compile(r"the bucket is located in '([^']+)'")
"""As pyarrow tells what a store itself names; a status alone may mean anything."""
_REGION_VARIABLES = ("AWS_DEFAULT_REGION", "AWS_REGION")
"""In the order in which pyarrow looks at them."""
_PYARROWS_OWN = ("file", "s3", "s3a", "gs", "gcs")


@dataclass(frozen=True)
class RunDir:
    """One run: `runs/<id>/`."""

    location: str
    """A local path, or a URL."""

    @classmethod
    def create(cls, runs_folder: str, name: str) -> RunDir:
        """Make a new, empty run folder below `runs_folder`."""
        stamp = time.strftime(_STAMP, time.gmtime())
        run = cls.below(runs_folder, f"{stamp}-{name}-{secrets.token_hex(2)}")
        try:
            run._files.create_dir(run._root, recursive=True)
        except OSError as error:
            why = run._why_not(error)
            raise BadInput(f"--out {runs_folder}: cannot make a run folder there: {why}") from error
        return run

    @classmethod
    def open(cls, location: str) -> RunDir:
        """An existing run folder, or one clear line why it is none."""
        run = cls(_absolute(location))
        try:
            is_there, has_plan = run.exists(), run.has(run.plan)
        except OSError as error:
            raise BadInput(f"{location}: cannot be opened: {run._why_not(error)}") from error
        if not is_there:
            raise BadInput(f"{location}: no such run folder; `streamgauge runs` lists what there is")
        if not has_plan:
            raise CorruptRun(f"{location}: not a run folder: it has no plan.json")
        return run

    @classmethod
    def below(cls, runs_folder: str, name: str) -> RunDir:
        """The folder of that name there, whether it is a run or not."""
        return cls(posixpath.join(_absolute(runs_folder), name))

    @property
    def id(self) -> str:
        return posixpath.basename(self.location.rstrip("/"))

    @property
    def parent(self) -> str:
        """The folder that it is in."""
        return posixpath.dirname(self.location.rstrip("/"))

    @property
    def begun_s(self) -> float | None:
        """When it was begun, since 1970, by its name; None: it was given another one."""
        try:
            return calendar.timegm(time.strptime(self.id[:_STAMP_LENGTH], _STAMP))
        except ValueError:
            return None

    # Names of everything in a run folder, relative to it.
    workload = "workload.yaml"
    plan = "plan.json"
    environment = "environment.json"
    status = "status.json"
    search = "search.json"
    tags = "tags.json"
    warm_ups = "warm_ups.json"
    faults = "faults.json"
    by_case = "by_case"
    report_page = "report/index.html"
    report_csv = "report/csv"
    report_folder = "report"
    report_markdown = "report/report.md"
    report_plots = "report/plots"
    results_document = "results/results.json"
    verification = "results/verification.json"
    fault_figures = "results/faults.json"
    kept_blocks = "results/blocks.parquet"

    def events(self, table: str, case: str | None = None) -> str:
        """Folder of one event table; Spark finds `case` in its name."""
        folder = f"events/{table}"
        return folder if case is None else f"{folder}/case={case}"

    def event_file(self, table: str, case: str, agent: str, part: int) -> str:
        return f"{self.events(table, case)}/{agent}-{part:05d}.parquet"

    def rolled(self, case: str, number: int | None = None) -> str:
        """Folder of what was counted of a case, and let go; or of one of its roll-ups."""
        folder = f"events/rolled/case={case}"
        return folder if number is None else f"{folder}/{number:05d}"

    def manifest(self, case: str, agent: str) -> str:
        """What an agent says it wrote, once it has written it."""
        return f"events/manifests/{case}-{agent}.json"

    def manifests(self) -> str:
        return "events/manifests"

    def case_blocks(self, name: str) -> str:
        """Folder of what is noted case by case where there are many (core/case_blocks)."""
        return f"{self.by_case}/{name}"

    def case_block(self, name: str, number: int) -> str:
        return f"{self.case_blocks(name)}/{number:05d}.json"

    def journal(self, case: str, agent: str) -> str:
        """Folder of what an agent has recorded, and not yet put into event files."""
        return f"{self.journals}/{case}-{agent}"

    journals = "events/journal"

    def original(self, number: int, name: str) -> str:
        """A file that was taken in, as it was."""
        return f"originals/{number:03d}-{_plain_name(name)}"

    def exported(self, form: str, name: str) -> str:
        """A file for another program."""
        return f"export/{form}/{_plain_name(name)}"

    def trial(self, agent: str) -> str:
        """A file that is removed again as soon as it is written: whether an agent may write here."""
        return f"events/trial-{agent}"

    def live(self, agent: str) -> str:
        """An agent's newest counts, while it runs."""
        return f"live/{agent}.json"

    def result(self, table: str) -> str:
        """Folder of one result table (Parquet)."""
        return f"results/{table}"

    def log(self, name: str) -> str:
        return f"logs/{name}.log"

    def meeting(self, place: str) -> str:
        """Folder of the small files through which launcher and agents talk while a run goes on."""
        return f"live/{place}"

    # Access.

    def url(self, relative: str = "") -> str:
        """The full address of something in the folder, as Spark and pyarrow take it."""
        return posixpath.join(self.location, relative) if relative else self.location

    def local(self, relative: str = "") -> Path:
        """The same as a local path; only for what needs a real file (a log, a page to open)."""
        if not isinstance(self._files, fs.LocalFileSystem):
            raise BadInput(f"{self.location}: this needs a run folder on the local disk")
        return Path(self._at(relative))

    @property
    def is_local(self) -> bool:
        return isinstance(self._files, fs.LocalFileSystem)

    @property
    def is_served(self) -> bool:
        """On the launcher's disk, seen from another host."""
        return self.location.startswith("https://")

    @property
    def is_everywhere(self) -> bool:
        """Given as a URL, which means the same on every host; a path is this host's own."""
        return "://" in self.location and not self.is_served

    @property
    def is_behind_spark(self) -> bool:
        """Only through Spark's file systems: the launcher gets there, agents do not."""
        return self.is_everywhere and _scheme(self.location) not in _PYARROWS_OWN

    @property
    def is_in_a_cloud(self) -> bool:
        """In an object store that every host reaches by pyarrow; Spark itself would need a jar for it."""
        return self.is_everywhere and not self.is_local and not self.is_behind_spark

    @property
    def is_quick(self) -> bool:
        """Small files come and go within milliseconds."""
        return self.is_local or self.is_served

    def exists(self) -> bool:
        return bool(self._files.get_file_info(self._root).type == fs.FileType.Directory)

    def has(self, relative: str) -> bool:
        return bool(self._files.get_file_info(self._at(relative)).type != fs.FileType.NotFound)

    def list_files(self, relative: str, suffix: str = "") -> Iterator[str]:
        """Files below a folder, as paths relative to the run folder, in order."""
        selector = fs.FileSelector(self._at(relative), recursive=True, allow_not_found=True)
        start = len(self._root.rstrip("/")) + 1
        for info in sorted(self._files.get_file_info(selector), key=lambda info: info.path):
            if info.type == fs.FileType.File and info.path.endswith(suffix):
                yield info.path[start:]

    def stamps(self, files: Iterable[str]) -> list[tuple[str, int, int]]:
        """Name, size and time of the last change of each: who was written again is told from who was not."""
        found = self._files.get_file_info([self._at(file) for file in files])
        start = len(self._root.rstrip("/")) + 1
        return [(info.path[start:], info.size or 0, info.mtime_ns or 0) for info in found]

    def size_bytes(self) -> int:
        """Of all its files together."""
        selector = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        return sum(info.size or 0 for info in self._files.get_file_info(selector))

    def read_text(self, relative: str) -> str:
        try:
            with self._files.open_input_stream(self._at(relative)) as stream:
                return bytes(stream.read()).decode()
        except FileNotFoundError as error:
            raise CorruptRun(f"{self.url(relative)}: missing from the run folder") from error
        except (OSError, UnicodeDecodeError) as error:
            raise CorruptRun(f"{self.url(relative)}: cannot be read: {error}") from error

    def open_input(self, relative: str) -> pa.NativeFile:
        """A file to read at any place; OSError when that cannot be."""
        return self._files.open_input_file(self._at(relative))

    def write_text(self, relative: str, text: str) -> None:
        self.write_bytes(relative, text.encode())

    def write_bytes(self, relative: str, content: bytes) -> None:
        """Write whole or not at all: a reader never sees half a file."""
        with self.open_output(relative) as stream:
            stream.write(content)

    def read_json(self, relative: str) -> Any:
        text = self.read_text(relative)
        try:
            return json.loads(text)
        except ValueError as error:
            raise CorruptRun(f"{self.url(relative)}: not valid JSON: {error}") from error

    def write_json(self, relative: str, value: object) -> None:
        self.write_text(relative, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def remove(self, relative: str) -> None:
        """A file, or a folder with all that is in it; harmless when there is none."""
        kind = self._files.get_file_info(self._at(relative)).type
        if kind == fs.FileType.Directory:
            self._files.delete_dir(self._at(relative))
        elif kind == fs.FileType.File:
            self._files.delete_file(self._at(relative))

    def remove_unfinished(self) -> None:
        """What somebody who was killed was about to write; nobody may be writing now."""
        for path in list(self.list_files("")):
            if _UNFINISHED.fullmatch(posixpath.basename(path)):
                self.remove(path)

    def open_output(self, relative: str) -> _WholeFile:
        """A file to write that takes its name only when it is complete; else BadInput says why not."""
        is_private = self.is_local and (relative in _PRIVATE or relative.startswith(_PRIVATE_FOLDERS))
        return _WholeFile(self._files, self._at(relative), self.url(relative), is_private=is_private)

    def _why_not(self, error: OSError) -> str:
        """What a store says, and what it means by that if we can find out."""
        # pyarrow names an option of its own, which nobody here can set.
        why = str(error).partition(" To create buckets")[0]
        if self.is_in_a_cloud and (region := self._region_of_bucket()) is not None:
            name = next((name for name in _REGION_VARIABLES if os.environ.get(name)), _REGION_VARIABLES[0])
            # Its own word on it takes the region of an endpoint for none.
            why = why.partition(" Looks like the configured region")[0].rstrip(".")
            why += f"; the bucket is in region {region}, and {name} is {os.environ.get(name) or 'not set'}"
        return why

    def _region_of_bucket(self) -> str | None:
        """Where a store says that it is, to who came to another region; None: that is not what is wrong."""
        try:
            self._files.get_file_info(self._root.partition("/")[0])
        except OSError as error:
            return found[1] if (found := _REGION.search(str(error))) else None
        return None

    @cached_property
    def _located(self) -> tuple[fs.FileSystem, str]:
        if "://" not in self.location:
            return fs.LocalFileSystem(), self.location
        if self.is_served:
            return served_files(self.location)
        if self.is_behind_spark:
            if not other_schemes:
                raise BadInput(
                    f"{self.location}: cannot be used as a run folder here: only the launcher has Spark's "
                    "file systems"
                )
            return other_schemes[0](self.location)
        try:
            # Spark and Hadoop say s3a where others say s3.
            files, root = fs.FileSystem.from_uri(self.location.replace("s3a://", "s3://", 1))
        except (pa.ArrowInvalid, OSError) as error:
            raise BadInput(f"{self.location}: cannot be used as a run folder: {error}") from error
        return files, root

    @property
    def _files(self) -> fs.FileSystem:
        return self._located[0]

    @property
    def _root(self) -> str:
        return self._located[1]

    def _at(self, relative: str) -> str:
        return posixpath.join(self._root, relative) if relative else self._root


_PRIVATE = (RunDir.workload, RunDir.plan, RunDir.environment, RunDir.status, RunDir.search)
"""They hold settings and addresses. No secrets, but nothing for everybody on the machine either."""
_PRIVATE_FOLDERS = ("events/manifests", RunDir.by_case)


class _WholeFile:
    """Writes beside the final name, and moves into place on success."""

    def __init__(self, files: fs.FileSystem, path: str, shown: str, *, is_private: bool = False) -> None:
        self._files, self._path, self._shown, self._is_private = files, path, shown, is_private
        self._folder, name = posixpath.split(path)
        # A leading underscore hides an unfinished file from Spark and pyarrow datasets.
        self._unfinished = posixpath.join(self._folder, f"_{name}.{secrets.token_hex(4)}")

    def __enter__(self) -> pa.NativeFile:
        try:
            self._files.create_dir(self._folder, recursive=True)
            self._stream = self._files.open_output_stream(self._unfinished)
            if self._is_private:
                Path(self._unfinished).chmod(0o600)  # still empty
        except OSError as error:
            raise _write_failed(self._shown, error) from error
        return self._stream

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        in_place = False
        try:
            self._stream.close()
            if kind is None:
                self._files.move(self._unfinished, self._path)
                in_place = True
        except OSError as late:
            error = error or late
        finally:
            if not in_place:
                # What went wrong is more worth telling than that this did too.
                with contextlib.suppress(OSError):
                    self._files.delete_file(self._unfinished)
        if isinstance(error, OSError):
            raise _write_failed(self._shown, error) from error


def _write_failed(shown: str, error: OSError) -> BadInput:
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        return BadInput(f"{shown}: the disk is full; free some space or choose another --out")
    return BadInput(f"{shown}: cannot be written: {error}")


def runs_in(runs_folder: str) -> list[RunDir]:
    """Every run folder below `runs_folder`, oldest first."""
    root = RunDir(_absolute(runs_folder))
    try:
        if not root.exists():
            return []
    except OSError as error:
        raise BadInput(f"{runs_folder}: cannot be looked into: {root._why_not(error)}") from error
    selector = fs.FileSelector(root._root)
    folders = [i.path for i in root._files.get_file_info(selector) if i.type == fs.FileType.Directory]
    runs = [RunDir(root.url(posixpath.basename(path))) for path in sorted(folders)]
    return [run for run in runs if run.has(run.plan)]


def _plain_name(name: str) -> str:
    """Of a file that somebody else named: letters that mean the same everywhere."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[-100:]


def _scheme(location: str) -> str:
    return location.partition("://")[0].lower()


def _absolute(location: str) -> str:
    return location.rstrip("/") if "://" in location else str(Path(location).absolute())
