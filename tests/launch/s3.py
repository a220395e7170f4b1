"""A real S3 server in one process, S3Proxy: it speaks the whole protocol with signatures, and keeps its
buckets in a folder."""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs

from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import LIGHT, find_java
from streamgauge.systems.ports import free_ports

BUCKET = "measurements"
_START_DEADLINE_S = 90.0
_USER, _SECRET = "rehearsal", "not-so-secret-key"
_READER = "reader"
_QUIET = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>"""


@dataclass(frozen=True)
class S3:
    endpoint: str
    environment: dict[str, str]
    """What a process needs to get in."""
    reader: dict[str, str]
    """The same for a user who may read all of it, and write nothing."""


@contextmanager
def s3(folder: Path) -> Iterator[S3]:
    """With one bucket, a user who may do everything, and one who may only read."""
    [port] = free_ports(1)
    endpoint, buckets = f"http://127.0.0.1:{port}", folder / "buckets"
    buckets.mkdir()
    (folder / "logback.xml").write_text(_QUIET)
    settings = {
        "s3proxy.endpoint": endpoint,
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": _USER,
        "s3proxy.credential": _SECRET,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(buckets),
    }
    users = {
        _USER: settings,
        _READER: {**settings, "s3proxy.identity": _READER, "s3proxy.read-only-blobstore": "true"},
    }
    for user, own in users.items():
        properties = folder / f"{user}.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    with (folder / "s3.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(find_java().executable, *LIGHT, "-Xmx256m"),
                f"-Dlogback.configurationFile={folder / 'logback.xml'}",
                *("-cp", classpath(fetch("s3"))),
                "org.gaul.s3proxy.Main",
                *(word for user in users for word in ("--properties", str(folder / f"{user}.properties"))),
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        _wait_for(endpoint, process, folder / "s3.log")
        fs.S3FileSystem(
            access_key=_USER, secret_key=_SECRET, endpoint_override=endpoint, allow_bucket_creation=True
        ).create_dir(BUCKET)
        yield S3(endpoint, environment(endpoint, _SECRET), environment(endpoint, _SECRET, _READER))
    finally:
        process.kill()
        process.wait(30)


def environment(endpoint: str, secret: str, user: str = _USER) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": user,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _wait_for(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_DEADLINE_S
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(endpoint, timeout=5).close()
        except urllib.error.HTTPError:
            return  # it knows nobody without a signature
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the S3 server did not come up in time")
