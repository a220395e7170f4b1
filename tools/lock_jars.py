"""Write the jar locks of `streamgauge.jvm` anew: `python tools/lock_jars.py [NAME …]`.

Maven resolves the dependencies once, here, so that nobody who runs the suite needs
Maven. To move to another Kafka, change the version below, run this, read the diff.
A root marked `alone` is taken without its own dependencies: kafka-tools would pull in
log4j's slf4j provider, and there must be exactly one provider (slf4j-simple).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src" / "streamgauge" / "jvm"
KAFKA = "4.3.1"

_OF_AWS = ("aws-core", "checksums", "checksums-spi", "http-client-spi", "s3", "sdk-core", "utils")
_OF_JACKSON = ("core:jackson-core", "core:jackson-databind", "dataformat:jackson-dataformat-xml")


@dataclass(frozen=True)
class Root:
    coordinates: str
    alone: bool = False


LOCKS = {
    # The broker and Kafka's own performance tools.
    "kafka": [
        Root(f"org.apache.kafka:kafka_2.13:{KAFKA}"),
        Root(f"org.apache.kafka:kafka-tools:{KAFKA}", alone=True),
        Root("org.slf4j:slf4j-simple:1.7.36"),
    ],
    # Apache's own client alone, for a machine that runs no broker. All of them are among the jars above.
    "kafka-clients": [
        Root(f"org.apache.kafka:kafka-clients:{KAFKA}"),
        # What it reads tokens with (OAUTHBEARER), and does not bring along.
        Root("com.fasterxml.jackson.core:jackson-databind:2.21.2"),
        Root("org.bitbucket.b_c:jose4j:0.9.6"),
        Root("org.slf4j:slf4j-simple:1.7.36"),
    ],
    # Aeron's client and media driver in one jar, and what reads and writes protobuf orders.
    "aeron": [
        Root("io.aeron:aeron-all:1.51.0", alone=True),
        Root("com.google.protobuf:protobuf-java:4.33.0"),
    ],
    # Spark's Kafka source, for the live view. Of PySpark's own version there is none in Maven Central, and of
    # its token provider only an older one; nothing of it is used but that a class of it is there.
    "spark-kafka": [
        Root("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0", alone=True),
        Root("org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0", alone=True),
        Root("org.apache.kafka:kafka-clients:3.9.2", alone=True),
        Root("org.apache.commons:commons-pool2:2.13.1", alone=True),
    ],
    # An HDFS in one process, of the Hadoop that PySpark brings along: tests of run folders start it.
    "hdfs": [
        Root("org.apache.hadoop:hadoop-client-minicluster:3.5.0", alone=True),
        Root("org.junit.jupiter:junit-jupiter-api:5.13.4"),
    ],
    # A resource manager and a node manager, out of the same jar: tests run agents on them.
    "yarn": [
        Root("org.apache.hadoop:hadoop-client-minicluster:3.5.0", alone=True),
        Root("org.bouncycastle:bcpkix-jdk18on:1.82"),
    ],
    # An S3 server that keeps its buckets in a folder: tests of run folders start it. Of what it depends on,
    # only what serves a folder: the rest is for other clouds behind it. Its Jackson 3 needs newer annotations
    # than it names.
    "s3": [
        Root("org.gaul:s3proxy:4.1.0", alone=True),
        Root("args4j:args4j:2.37", alone=True),
        Root("ch.qos.logback:logback-classic:1.6.3"),
        Root("com.google.guava:guava:33.7.1-jre", alone=True),
        Root("com.fasterxml.jackson.core:jackson-annotations:2.21", alone=True),
        Root("com.fasterxml.woodstox:woodstox-core:7.0.0", alone=True),
        Root("jakarta.servlet:jakarta.servlet-api:6.0.0", alone=True),
        Root("org.codehaus.woodstox:stax2-api:4.2.2", alone=True),
        *(Root(f"software.amazon.awssdk:{part}:2.54.2", alone=True) for part in _OF_AWS),
        *(Root(f"tools.jackson.{part}:3.2.2", alone=True) for part in _OF_JACKSON),
    ],
    # A Java compiler that needs only a Java 17 runtime.
    "compiler": [Root("org.eclipse.jdt:ecj:3.46.0", alone=True)],
}

_WITHOUT_DEPENDENCIES = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)


def main() -> int:
    for name in sys.argv[1:] or LOCKS:
        roots = LOCKS[name]
        jars = resolve(roots)
        lines = sorted(_line(coordinates, jar) for coordinates, jar in jars.items())
        wanted = ", ".join(root.coordinates for root in roots)
        head = f"# {wanted}, resolved by tools/lock_jars.py.\n# group:artifact:version sha256 size\n"
        target = FOLDER / f"{name}.lock"
        target.write_text(head + "\n".join(lines) + "\n")
        total = sum(jar.stat().st_size for jar in jars.values())
        print(f"{target.name}: {len(jars)} jars, {total} bytes")
    return 0


def resolve(roots: list[Root]) -> dict[str, Path]:
    """Every jar needed at run time: `group:artifact:version` → where Maven put it."""
    with tempfile.TemporaryDirectory() as folder:
        pom, listing = Path(folder, "pom.xml"), Path(folder, "jars.txt")
        pom.write_text(_pom(roots))
        command = ["mvn", "-B", "-q", "-f", str(pom), "dependency:list", "-DincludeScope=runtime"]
        options = [f"-DoutputFile={listing}", "-DoutputAbsoluteArtifactFilename=true"]
        subprocess.run([*command, *options], check=True, timeout=900)
        found: dict[str, Path] = {}
        for line in listing.read_text().splitlines():
            # group:artifact:jar:version:scope:/path/to.jar, with a module note behind it.
            parts = line.strip().split(" ")[0].split(":", 5)
            if len(parts) == 6:
                group, artifact, kind, version, _scope, path = parts
                if kind != "jar":
                    raise SystemExit(f"{line.strip()}: only plain jars can be locked")
                found[f"{group}:{artifact}:{version}"] = Path(path)
    if not found:
        raise SystemExit("Maven resolved nothing; run it without -q to see why")
    return found


def _pom(roots: list[Root]) -> str:
    dependencies = []
    for root in roots:
        group, artifact, version = root.coordinates.split(":")
        dependencies.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{_WITHOUT_DEPENDENCIES if root.alone else ''}</dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>lock</groupId><artifactId>lock</artifactId><version>1</version>"
        f"<dependencies>{''.join(dependencies)}</dependencies></project>"
    )


def _line(coordinates: str, jar: Path) -> str:
    content = jar.read_bytes()
    return f"{coordinates} {hashlib.sha256(content).hexdigest()} {len(content)}"


if __name__ == "__main__":
    sys.exit(main())
