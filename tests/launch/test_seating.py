from __future__ import annotations

import threading
from pathlib import Path

import pytest

from streamgauge.core.errors import AgentDied, BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.launch import seating
from streamgauge.launch.meeting import Call
from streamgauge.launch.seating import give_seats, seats_of, take_seat

HOSTS = ["b", "a", "a", "c", "b", "c"]
AGENTS = ["producer-0", "gateway-0", "gateway-1", "swarm-0"]
WANTED = {"gateway-0": "a", "gateway-1": "b", "swarm-0": "a"}


def test_agents_are_where_they_are_wanted_and_the_others_where_most_is_free() -> None:
    seats = seats_of(HOSTS, AGENTS, WANTED)
    assert {agent: HOSTS[n] for n, agent in enumerate(seats) if agent} == {**WANTED, "producer-0": "c"}


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"swarm-0": "d"}, "agent swarm-0: there is no follower d; there are: a, b, c"),
        (
            dict.fromkeys(AGENTS[1:], "b"),
            "follower b: has 2 slots for 3 agents that are wanted there; give it",
        ),
    ],
)
def test_what_cannot_be_is_said_by_name(wanted: dict[str, str], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        seats_of(HOSTS, AGENTS, wanted)


def test_tasks_say_where_they_are_and_get_their_agents(tmp_path: Path) -> None:
    run, got = RunDir(str(tmp_path)), dict[int, str | None]()

    def sit_down(number: int) -> None:
        got[number] = take_seat(Call(run, "seats"), number, HOSTS[number])

    tasks = [threading.Thread(target=sit_down, args=(number,)) for number in range(len(HOSTS))]
    for task in tasks:
        task.start()
    seats = give_seats(Call(run, "seats"), len(HOSTS), AGENTS, WANTED, lambda: False)
    for task in tasks:
        task.join(60)
    assert [got[number] for number in range(len(HOSTS))] == seats
    assert sorted(filter(None, seats)) == sorted(AGENTS)


def test_tasks_that_are_gone_are_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(AgentDied, match="only 0 of 2 tasks said"):
        give_seats(Call(RunDir(str(tmp_path)), "seats"), 2, AGENTS, {}, lambda: True)


def test_a_task_whom_nobody_tells_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seating, "_DEADLINE_S", 0.0)
    assert take_seat(Call(RunDir(str(tmp_path)), "seats"), 0, "a") is None
