"""Which task takes which agent, where some agents are wanted on hosts that have a name.

Spark places tasks where it likes. So there are as many as there are slots; each says where it is, the
launcher deals out the agents, and a task that gets none ends.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from streamgauge.core.errors import AgentDied, BadInput
from streamgauge.launch.meeting import Call

_DEADLINE_S = 120.0
_LOOK_S = 0.05
_HERE, _SEATS = "here", "seats"


def take_seat(call: Call, number: int, hostname: str) -> str | None:
    """A task: the agent that is its; None: it is not needed."""
    call.tell(_task(number), _HERE, hostname)
    deadline = time.monotonic() + _DEADLINE_S
    while (seats := call.hear(_SEATS)) is None:
        if time.monotonic() > deadline:
            return None  # the launcher has given up long ago
        time.sleep(_LOOK_S)
    found: str | None = seats.get(str(number))
    return found


def give_seats(
    call: Call, count: int, agents: Sequence[str], wanted: Mapping[str, str], is_lost: Callable[[], bool]
) -> list[str | None]:
    """The launcher: the agent of each of `count` tasks. `wanted`: by agent, the host it has to be on."""
    hosts: dict[int, str] = {}
    deadline = time.monotonic() + _DEADLINE_S
    while len(hosts) < count:
        for number in range(count):
            if number not in hosts and (told := call.told(_task(number), _HERE)) is not None:
                hosts[number] = told[0]
        if is_lost() or time.monotonic() > deadline:
            raise AgentDied(
                f"only {len(hosts)} of {count} tasks said within {_DEADLINE_S:g} s where they are"
            )
        time.sleep(_LOOK_S)
    try:
        seats = seats_of([hosts[number] for number in range(count)], agents, wanted)
    except BadInput:
        call.say(_SEATS, {})
        raise
    call.say(_SEATS, {str(number): agent for number, agent in enumerate(seats) if agent is not None})
    return seats


def seats_of(hosts: Sequence[str], agents: Sequence[str], wanted: Mapping[str, str]) -> list[str | None]:
    """`hosts`: of each task. Who is wanted nowhere goes where most is free."""
    free: dict[str, list[int]] = defaultdict(list)
    for number, host in enumerate(hosts):
        free[host].append(number)
    seats: list[str | None] = [None] * len(hosts)
    for agent in sorted(agents, key=lambda agent: agent not in wanted):
        host = wanted.get(agent) or max(free, key=lambda name: len(free[name]))
        if host not in free:
            there = ", ".join(sorted(free))
            raise BadInput(f"agent {agent}: there is no follower {host}; there are: {there}")
        if not free[host]:
            here = sum(1 for other in wanted.values() if other == host)
            raise BadInput(
                f"follower {host}: has {hosts.count(host)} slots for {here} agents that are wanted there; "
                "give it more --cores, or name more hosts"
            )
        seats[free[host].pop(0)] = agent
    return seats


def _task(number: int) -> str:
    return f"task-{number}"
