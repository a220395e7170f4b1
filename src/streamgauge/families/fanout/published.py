"""What the benchmark that fan-out follows has published, to be set beside our figures.

Lightstreamer Kafka Connector Benchmarking Tool: Kafka 3.5.1, Lightstreamer 7.4.2, connector 0.1.0, Java 21.
Its clients ran on machines of their own. Latency is mean (SD) in ms, from the time in the message to a few
sampling clients, by millisecond clocks; its generator sleeps after each send, so that its rate is a little
below nominal.
"""

from __future__ import annotations

from dataclasses import dataclass

HARDWARE = (
    "published on AWS: a c7i.xlarge (4 vCPU) for the broker, another for the gateway, N c7i.2xlarge (8 vCPU) "
    "for clients, a t2.small for generator and sampling clients; no TLS"
)

SLIPS = (
    "Scenario 1, latency, Kafka groups: the row is one column short. Its figures are read from the left; "
    "from 18K on it has nothing but x.",
    "Scenario 2, bit/s, Kafka groups: the row has one x too many; it is left out.",
    "Scenario 3, bit/s, 75K clients: 537G and 655G stand where M must be meant (65K: 460M, 605M); so shown.",
    "Scenario 3: the first number is firstNumber in the JSON shown, and firstnumber in the configuration.",
)

BROKE = "x"


@dataclass(frozen=True)
class Published:
    """`mean_sd_ms`: (mean, SD), or x where the way did not hold."""

    mean_sd_ms: tuple[float, float] | str | None = None
    bits_per_s: float | None = None


_Row = dict[int, tuple[float, float] | str]


def _row(counts: str, cells: str) -> _Row:
    """`1K 2K …` and `6/17 13/18 x - …`: x did not hold, - was not measured."""
    found: _Row = {}
    for count, cell in zip(counts.split(), cells.split(), strict=False):
        if cell == BROKE:
            found[_clients(count)] = BROKE
        elif cell != "-":
            mean, sd = cell.split("/")
            found[_clients(count)] = (float(mean), float(sd))
    return found


def _bits(counts: str, cells: str) -> dict[int, float]:
    units = {"M": 1e6, "G": 1e9}
    return {
        _clients(count): float(cell[:-1]) * units[cell[-1]]
        for count, cell in zip(counts.split(), cells.split(), strict=False)
        if cell not in (BROKE, "-")
    }


def _clients(text: str) -> int:
    return int(text.removesuffix("K")) * 1000


_ONE = "1K 2K 4K 8K 12K 14K 16K 18K 20K 32K 40K 50K"
_TWO = "4K 6K 8K 10K 52K 64K 70K 80K 90K"
_THREE = "2K 4K 6K 10K 20K 40K 50K 65K 75K"

_LATENCY: dict[tuple[str, str], _Row] = {
    ("1", "kafka-groups"): _row(_ONE, "6/17 13/18 35/344 53/45 363/1494 1068/914 3376/507 x x x x"),
    ("1", "kafka-standalone"): _row(_ONE, "- - - 74/84 - 111/59 375/219 1202/979 2201/1944 x x x"),
    ("1", "gateway"): _row(
        _ONE, "10/17 16/15 27/17 33/21 - 52/21 91/37 144/34 128/147 158/71 252/87 787/226"
    ),
    ("2", "kafka-groups"): _row(_TWO, "114/34 717/70 1051/137 x x x x x x"),
    ("2", "kafka-standalone"): _row(_TWO, "268/388 513/625 785/814 1426/4157 x x x x x"),
    ("2", "gateway"): _row(_TWO, "8/16 12/17 16/8 19/13 24/16 28/26 59/56 67/207 1876/1487"),
    ("3", "kafka-groups"): _row(_THREE, "25/103 503/669 918/1068 x x x x x x"),
    ("3", "kafka-standalone"): _row(_THREE, "25/103 298/362 504/535 x x x x x x"),
    ("3", "gateway"): _row(_THREE, "7/21 8/47 8/27 9/36 16/42 27/49 33/51 53/74 139/214"),
    ("3jp", "gateway"): _row(_THREE, "6/8 8/63 8/7 9/6 19/12 33/17 44/57 91/75 221/134"),
}

_WIRE: dict[tuple[str, str], dict[int, float]] = {
    ("2", "kafka-groups"): _bits(_TWO, "3.6G 5.4G 7.1G x x x x x x"),
    ("2", "kafka-standalone"): _bits(_TWO, "3.6G 5.4G 7.1G 8.9G x x x x x"),
    ("2", "gateway"): _bits(_TWO, "90M 133.5M 179.5M 223.5M 1.16G 1.43G 1.57G 1.75G 2.01G"),
    ("3", "kafka-groups"): _bits(_THREE, "2.3G 4.7G 6.9G x x x x x x"),
    ("3", "kafka-standalone"): _bits(_THREE, "2.3G 4.5G 6.7G x x x x x x"),
    ("3", "gateway"): _bits(_THREE, "14.5M 29M 43M 72M 143M 288M 355M 460M 537M"),
    ("3jp", "gateway"): _bits(_THREE, "20M 40M 60M 99M 195M 394M 482M 605M 655M"),
}


def published(scenario: str, via: str, clients: int) -> Published:
    """Empty where nothing was published of that scenario, way and number of clients."""
    place = (scenario, via)
    return Published(_LATENCY.get(place, {}).get(clients), _WIRE.get(place, {}).get(clients))
