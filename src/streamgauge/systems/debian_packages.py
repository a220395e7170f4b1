"""Programs from Debian's packages, unpacked into the cache: no root, and no service that starts by itself.

Sources, keys and mirrors are those that the machine's apt is set up with. What a package needs and the
machine lacks comes along; what the machine has is used from there.

On a release that `debian.lock` has, packages are taken in the version that is locked, and their bytes are
held to its hash. A version that Debian has replaced since is on no mirror: then what apt has, signed by
Debian, is taken instead. `packages.txt` in the folder says which of both each package is.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.core.fetching import tell_fetching
from streamgauge.core.folders import cache_folder
from streamgauge.core.guardian import with_mark

_DEADLINE_S = 300.0
_WANTED = re.compile(r"^Inst (\S+)", re.MULTILINE)
_TAKEN = "packages.txt"
_NEVER = frozenset({"libc6", "libc-bin"})
"""What cannot be had twice in one process: those of the machine have to do."""
_SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
"""Where Debian puts servers, and where the PATH of a user often does not lead."""


@dataclass(frozen=True)
class Locked:
    version: str
    sha256: str


@dataclass(frozen=True)
class Program:
    """An executable, and the folder its package was unpacked into; None: the machine's own."""

    executable: Path
    root: Path | None

    def environment(self) -> dict[str, str] | None:
        """Of its process; None: ours."""
        if self.root is None:
            return None
        libraries = [str(path) for path in _library_folders(self.root)]
        known = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join([*libraries, *known])}


def find_program(names: Sequence[str], package: str, inside: str) -> Program:
    """The first of `names` that the machine has; else `inside` of an unpacked `package`."""
    if (found := own_program(names)) is not None:
        return Program(found, None)
    root = unpacked(package, f"install it, and have it on the PATH (Debian: sudo apt-get install {package})")
    executable = root / inside
    if not os.access(executable, os.X_OK):
        raise SystemFailed(f"{executable}: Debian's package {package} has no such program; remove {root}")
    return Program(executable, root)


def own_program(names: Sequence[str]) -> Path | None:
    """On the PATH, or where Debian puts servers."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *_SYSTEM_FOLDERS])
    found = (shutil.which(name, path=path) for name in names)
    return next((Path(executable) for executable in found if executable), None)


def can_unpack() -> bool:
    return all(shutil.which(tool) for tool in ("apt-get", "dpkg-deb"))


def unpacked(package: str, remedy: str) -> Path:
    """A folder with the package and what it needs, fetched once; `remedy`: what to do where that fails."""
    root = cache_folder() / "debian" / _platform() / package
    if root.exists():
        return root
    if not can_unpack():
        raise NotInstalled(f"{package} is not installed, and cannot be fetched without apt; {remedy}")
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=f".{package}-") as scratch:
        tell_fetching(f"Debian's package {package}")
        made = _fetch(package, Path(scratch), remedy)
        try:
            made.rename(root)
        except OSError:
            if not root.exists():  # else somebody else was faster
                raise
    tell_fetching(f"Debian's package {package}", is_over=True)
    return root


def _fetch(package: str, scratch: Path, remedy: str) -> Path:
    """As apt knows the packages now; if that fails, as lists of our own know them after an update."""
    downloads, made, lock = scratch / "downloads", scratch / "root", locked(_platform())
    if why := _download(package, downloads, [], lock):
        own = _own_lists(scratch / "apt")
        why = _run(["apt-get", *own, "update"], scratch)[1] or _download(package, downloads, own, lock)
        if why and lock:
            why = _download(package, downloads, own, {})
    found = sorted(downloads.glob("*.deb"))
    if why or not found:
        raise SystemFailed(f"Debian's package {package} cannot be fetched: {why or 'nothing came'}; {remedy}")
    made.mkdir()
    (made / _TAKEN).write_text("".join(f"{_checked(archive, lock)}\n" for archive in found))
    for archive in found:
        _, why = _run(["dpkg-deb", "--extract", str(archive), str(made)], scratch)
        if why:
            raise SystemFailed(f"{archive.name}: cannot be unpacked: {why}")
    return made


@cache
def locked(platform_name: str) -> Mapping[str, Locked]:
    """By package; empty for a release that nobody locked."""
    lines = resources.files("streamgauge.systems").joinpath("debian.lock").read_text("utf-8").splitlines()
    entries = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: Locked(version, sha256) for of, name, version, sha256 in entries if of == platform_name}


def _checked(archive: Path, lock: Mapping[str, Locked]) -> str:
    """What it is, in a line; an archive with a locked name and version and other bytes is refused."""
    name, version = archive.stem.split("_")[:2]
    # apt writes the colon of an epoch so in names of files.
    version = version.replace("%3a", ":")
    with archive.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    known = lock.get(name)
    if known is None or known.version != version:
        return f"{name} {version} {sha256} as apt has it"
    if known.sha256 != sha256:
        raise SystemFailed(
            f"{archive.name}: has SHA-256 {sha256}, not {known.sha256} as locked; "
            "the mirror or what is between has other bytes: use another one"
        )
    return f"{name} {version} {sha256} as locked"


def _download(package: str, folder: Path, options: Sequence[str], lock: Mapping[str, Locked]) -> str:
    """Into an empty folder, with all that the machine lacks; why not, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    asked = ["apt-get", *options, "--simulate", "--no-install-recommends", "install", package]
    said, why = _run(asked, folder)
    names = [name for name in _WANTED.findall(said) if name.partition(":")[0] not in _NEVER]
    wanted = [f"{name}={lock[name].version}" if name in lock else name for name in names]
    return why or _run(["apt-get", *options, "download", *wanted], folder)[1]


def _own_lists(folder: Path) -> list[str]:
    """Options that let apt update without root, and without touching the machine's lists."""
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    # What the machine does after its own updates is not for ours.
    hooks = [f"#clear APT::Update::{name};" for name in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")]
    own = {
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
    }
    settings = folder / "apt.conf"
    settings.write_text("\n".join([*hooks, *(f'{name} "{value}";' for name, value in own.items())]) + "\n")
    return ["--config-file", str(settings)]


def _run(command: Sequence[str], folder: Path) -> tuple[str, str]:
    """What it said, and why it failed; the second is empty if it did not."""
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=with_mark(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"{command[0]} was not done after {_DEADLINE_S:g} s"
    if done.returncode == 0:
        return done.stdout, ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()
    return done.stdout, (lines[0].removeprefix("E: ") if lines else f"exit code {done.returncode}")


def _platform() -> str:
    """Whose packages they are: programs of one release need not run on the next."""
    try:
        about = platform.freedesktop_os_release()
    except OSError:
        return f"unknown-{platform.machine()}"
    return f"{about.get('ID', 'linux')}-{about.get('VERSION_ID', 'rolling')}-{platform.machine()}"


def _library_folders(root: Path) -> list[Path]:
    found = [*root.glob("usr/lib/*-linux-*"), *root.glob("lib/*-linux-*"), root / "usr/lib"]
    return [folder for folder in found if folder.is_dir()]
