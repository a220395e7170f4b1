"""`python -m tools.gallery_page`: write docs/gallery.md anew from a gallery that is run now."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from streamgauge.gallery.exhibits import Exhibit
from streamgauge.report.quantities import digits_text

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
HEAD = """\
# How to measure wrongly: a gallery

```
$ streamgauge gallery                      # in a console; --html FILE, --markdown, --json
```

This is one run on a [simulated broker](workload.md#the-simulated-broker), so the true figures are known:
latency is about 2 ms, the first second is slow, the broker stalls once for 1.5 s, one message in 20 is lost,
and one in 50 arrives twice. Each row measures the same messages with one fault, and shows what would have
been reported. The true figure is the one that streamgauge reports for this run; a test checks it against the
laws of the simulation.

| fault | figure | reported | true | unit | seen in |
| --- | --- | --- | --- | --- | --- |
"""
NOT_HERE = """\
## What is not shown here

Some faults cannot be re-created on a run of one producer, one partition and one consumer that share no
machine with a system:

- *Clients that connected first as the sample* (Lightstreamer's benchmark): [fanout](fanout.md) draws its
  sample at random over the order of connecting, or measures every client.
- *Partitions that share a consumer, in rows "per partition"* (KafkaBench): in a [sweep](sweep.md) each
  partition has its own consumer.
- *Bodies that repeat in small batches, and compress 39-fold* (streamgauge 0.1): nothing is compressed here.
  What a codec reached is in the results ([`message.compressibility`](workload.md)).
- *A cold JVM, ready-made payloads, a payload made before the stamp, or a shorter timer slack on one side
  only* (streamgauge 0.1, KafkaBench): these are costs of a client's machine
  ([decision 38](decisions/0038-a-bench-without-favour.md)).
"""


def page_text(exhibits: list[Exhibit]) -> str:
    rows = [
        f"| {each.name} | {each.figure} | {digits_text(each.wrong)} | {digits_text(each.true)} | {each.unit} "
        f"| {each.seen_in} |"
        for each in exhibits
    ]
    words = [
        f"### {each.name[0].upper()}{each.name[1:]}\n\n{each.what}\n\n*Here:* {each.instead}"
        for each in exhibits
    ]
    return (
        HEAD
        + "\n".join(rows)
        + "\n\n## What is done wrong, and what to do instead\n\n"
        + "\n\n".join(words)
        + "\n\n"
        + NOT_HERE
    )


if __name__ == "__main__":
    command = [sys.executable, "-m", "streamgauge.cli.main", "gallery", "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    PAGE.write_text(page_text([Exhibit.model_validate(each) for each in json.loads(said.stdout)]), "utf-8")
    print(PAGE)
