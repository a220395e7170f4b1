"""A fan-out: the same messages to more and more clients, until a way of delivering them cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from streamgauge.drivers.swarm import MessageKind
from streamgauge.families.fanout.names import ScenarioName
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.load import Precedence
from streamgauge.spec.model import Bytes, Count, RatePerS, Seconds, SpecModel, distinct
from streamgauge.spec.topics import Topics

Diff = Literal["jsonpatch", "diff_match_patch"]

_PERSON = (
    "timestamp",
    "firstText",
    "secondText",
    "thirdText",
    "fourthText",
    "firstnumber",
    "secondNumber",
    "thirdNumber",
    "fourthNumber",
)


@dataclass(frozen=True)
class Scenario:
    """What is sent, and how a gateway maps it."""

    kind: MessageKind
    producers: int
    pause_ms: int
    fields: dict[str, str]
    """Of an item: name → what the gateway extracts; with keys, an item is a key's."""
    json: bool = False
    """The gateway reads values as JSON; otherwise they are text."""
    diff: Diff | None = None
    meaning: str = ""

    @property
    def item(self) -> str:
        """What a gateway's clients follow: its name, or what it begins with."""
        return "jsontest" if self.json else "ltest"


_TEXT = {"value": "#{VALUE}"}
_KEYED_TEXT = {"key": "#{KEY}", **_TEXT}

SCENARIOS: dict[ScenarioName, Scenario] = {
    "1": Scenario("base", 2, 500, _TEXT, meaning="text to everybody"),
    "2": Scenario("keyed", 10, 100, _KEYED_TEXT, meaning="text by key"),
    "3": Scenario(
        "complex",
        10,
        100,
        {
            "key": "#{KEY}",
            **{name: f"#{{VALUE.{name}}}" for name in _PERSON},
            "hobbies": "#{VALUE.hobbies[0]}",
        },
        json=True,
        meaning="JSON by key, a field for each part: only changed fields are sent",
    ),
    "3jp": Scenario(
        "complex", 10, 100, _KEYED_TEXT, diff="jsonpatch", meaning="JSON as one field, sent as JSON Patch"
    ),
    "3td": Scenario(
        "complex", 10, 100, _KEYED_TEXT, diff="diff_match_patch", meaning="JSON as one field, as TLCP-diff"
    ),
    "3full": Scenario("complex", 10, 100, _KEYED_TEXT, meaning="JSON as one field, sent whole"),
}


class Fanout(SpecModel):
    """Every target is a series: targets × scenarios × clients, a case each."""

    scenarios: tuple[ScenarioName, ...] = ("1",)
    """What is sent, and how a gateway maps it; one series each."""
    clients: tuple[Annotated[Count, Field(ge=1)], ...]
    """The ladder, from few to many."""
    duration: Annotated[Seconds, Field(gt=0)] = 60.0
    warm_up: Annotated[Seconds, Field(ge=0)] | Literal["auto"] = "auto"
    """Before that, on the same schedule, and kept apart. auto: until latency and CPU are at rest; none: 0."""
    warm_up_limit: Annotated[Seconds, Field(gt=0)] = 60.0
    """How long to wait for that; then measuring begins all the same, and its figures are not valid."""
    groups: tuple[str, ...] = ()
    """Targets each of whose clients is a consumer group; clients of other Kafka targets are assigned."""
    measured: Annotated[Count, Field(ge=1)] | Literal["all"] = 200
    """Clients that look into every update and time it, drawn at random over connection order; the others
    only count updates."""
    parse_json: bool = True
    """Kafka clients parse JSON values, as those of a gateway need not."""
    producers: Annotated[Count, Field(ge=1)] | None = None
    """Else the scenario's; so are pause and size."""
    rate: Annotated[RatePerS, Field(gt=0)] | None = None
    """Messages per second, all producers together; instead of `pause`."""
    pause: Annotated[Seconds, Field(gt=0)] | None = None
    """Between two messages of one producer, whatever sending takes."""
    precedence: Precedence = "none"
    """Of the generator's thread over others on its host, as `load.precedence`."""
    size: Annotated[Bytes, Field(ge=4)] = 1024
    """Of the random text in a message."""
    max_frequency: Annotated[float, Field(gt=0)] | Literal["unfiltered", "unlimited"] = "unfiltered"
    """Of a gateway's subscriptions; with a number, updates a second that conflation leaves."""
    fields: tuple[str, ...] = ()
    """Those that a gateway's clients subscribe to; by default all."""
    ramp_up_per_s: Annotated[RatePerS, Field(gt=0)] | None = None
    """New clients per second, all processes together; by default 2,000 for a gateway, 200 for Kafka."""
    push_clients_per_process: Annotated[Count, Field(ge=1)] = 19_000
    """A gateway's clients in one swarm process."""
    kafka_clients_per_process: Annotated[Count, Field(ge=1)] = 1000
    """Kafka's clients in one swarm process."""
    gateway_processes: Annotated[Count, Field(ge=1)] | None = None
    """Else as many as hold the clients at 17,000 each."""
    gateway_hosts: tuple[str, ...] = ()
    """Followers on each of which a gateway is started; by default there is one, on the launcher's host."""
    swarm_hosts: tuple[str, ...] = ()
    """Followers that the clients are on, in equal shares; by default wherever there is a slot."""
    mean_limit: Annotated[Seconds, Field(gt=0)] = 5.0
    """A series ends when the mean latency is above, or when not everything was delivered."""
    drain_timeout: Annotated[Seconds, Field(gt=0)] = 20.0
    """How long swarms wait for the last updates."""
    broker_metrics: tuple[str, ...] = ()
    """http://host:port/metrics of brokers that run elsewhere: Prometheus's text, with CPU and memory."""
    topics: Topics = Topics(name="LTest", own_names=True)
    """The topic that all messages go to; with `own_names` the run makes one."""
    faults: tuple[SerializeAsAny[FaultSpec], ...] = ()
    """What is done meanwhile to the gateway that the run starts; clients then come back by themselves."""

    _distinct = field_validator("clients", "scenarios")(distinct)

    @field_validator("broker_metrics")
    @classmethod
    def _over_http(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Not file:, which would be read."""
        for address in addresses:
            if not address.startswith(("http://", "https://")):
                raise ValueError(f"{address!r} is no address; allowed: http://… and https://…")
        return addresses

    @field_validator("gateway_hosts", "swarm_hosts")
    @classmethod
    def _each_once(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return distinct(hosts) if hosts else hosts

    @field_validator("warm_up", mode="before")
    @classmethod
    def _no_warm_up(cls, seconds: Any) -> Any:
        return 0 if seconds == "none" else seconds

    @field_validator("clients")
    @classmethod
    def _upwards(cls, clients: tuple[int, ...]) -> tuple[int, ...]:
        if list(clients) != sorted(clients):
            raise ValueError("must go from few to many: a series ends at the first that does not hold")
        return clients

    @field_validator("topics")
    @classmethod
    def _one_topic(cls, topics: Topics) -> Topics:
        if topics.count != 1:
            raise ValueError("count: all messages go to one topic")
        return topics

    @model_validator(mode="after")
    def _known_fields(self) -> Fanout:
        for name in self.scenarios:
            missing = [field for field in self.fields if field not in SCENARIOS[name].fields]
            if missing:
                raise ValueError(
                    f"fields: scenario {name} has no field {missing[0]!r}; "
                    f"allowed: {', '.join(SCENARIOS[name].fields)}"
                )
            if self.fields and _stamp_field(name) not in self.fields:
                raise ValueError(f"fields: {_stamp_field(name)} is needed: it carries the time")
        return self

    @model_validator(mode="after")
    def _one_pace(self) -> Fanout:
        if self.rate is not None and self.pause is not None:
            raise ValueError("rate: `pause` says how often messages are sent, too; give one of the two")
        return self

    @model_validator(mode="after")
    def _faults_in_time(self) -> Fanout:
        late = [fault for fault in self.faults if fault.at >= self.duration]
        if late:
            raise ValueError(f"faults: at {late[0].at:g} s the case is over, which lasts {self.duration:g} s")
        return self

    def producers_of(self, scenario: ScenarioName) -> int:
        return self.producers or SCENARIOS[scenario].producers

    def rate_per_s(self, scenario: ScenarioName) -> float:
        """Of all producers together."""
        if self.rate is not None:
            return self.rate
        pause_s = SCENARIOS[scenario].pause_ms / 1000 if self.pause is None else self.pause
        return self.producers_of(scenario) / pause_s


def _stamp_field(scenario: ScenarioName) -> str:
    return "timestamp" if SCENARIOS[scenario].json else "value"


def frequency_text(max_frequency: float | str) -> str:
    """What an item's updates are limited to."""
    return max_frequency if isinstance(max_frequency, str) else f"at most {max_frequency:g}/s an item"
