"""Compile payload/order.proto: `python tools/compile_orders.py`; with `--check`, see whether that is done.

protoc comes from Maven Central, in the version of the locked protobuf-java. What it makes is kept in the
repository, so that nobody who installs or runs the suite needs protoc.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from streamgauge.core.folders import cache_folder
from streamgauge.jvm.jars import locked_version
from streamgauge.jvm.maven_settings import local_repository, repository_url

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "streamgauge"
PROTO = PACKAGE / "payload" / "order.proto"
MADE = {
    "order.desc": PACKAGE / "payload" / "order.desc",
    "streamgauge/orders/OrderProto.java": PACKAGE / "jvm" / "orders" / "OrderProto.java",
}


def main() -> int:
    compiled = compile_orders()
    stale = [path.name for path, content in compiled.items() if not _is(path, content)]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"{name}: is not what order.proto compiles to; run tools/compile_orders.py")
        return 1 if stale else 0
    for path, content in compiled.items():
        path.write_bytes(content)
        print(f"{path.name}: {len(content)} bytes")
    return 0


def compile_orders() -> dict[Path, bytes]:
    """What the files should hold."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(_protoc()), f"--proto_path={PROTO.parent}", f"--java_out={folder}"]
        subprocess.run(
            [*command, f"--descriptor_set_out={folder}/order.desc", PROTO.name], check=True, timeout=60
        )
        return {path: Path(folder, name).read_bytes() for name, path in MADE.items()}


def _protoc() -> Path:
    version = locked_version("aeron", "protobuf-java")
    machine = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch_64", "arm64": "aarch_64"}
    system = {"Linux": "linux", "Darwin": "osx", "Windows": "windows"}[platform.system()]
    name = f"protoc-{version}-{system}-{machine[platform.machine()]}.exe"
    path = f"com/google/protobuf/protoc/{version}/{name}"
    found = cache_folder() / "tools" / name
    if not found.exists():
        found.parent.mkdir(parents=True, exist_ok=True)
        local = local_repository() / path
        if local.exists():
            content = local.read_bytes()
        else:
            with urllib.request.urlopen(f"{repository_url()}/{path}", timeout=60) as response:
                content = response.read()
        unfinished = found.with_suffix(".new")
        unfinished.write_bytes(content)
        unfinished.chmod(0o755)
        unfinished.rename(found)
    return found


def _is(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
