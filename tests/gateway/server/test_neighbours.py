from __future__ import annotations

import os

import pytest

from streamgauge.gateway.server.neighbours import Neighbours, process_of, session_name


def test_a_session_says_which_process_has_it() -> None:
    secret = "0123456789abcdef01234567"
    assert process_of(session_name(0, secret)) == 0
    assert process_of(session_name(63, secret)) == 63


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "S",
        "Sx",
        "S0xshort",
        "nonsense",
        "S-1x0123456789abcdef01234567",
        "S99999x0123456789abcdef01234567",
    ],
)
def test_other_names_belong_to_nobody(name: str | None) -> None:
    assert process_of(name) is None
    neighbours = Neighbours(2)
    assert not neighbours.are_meant(name)
    neighbours.close()


def test_neighbours_are_the_other_processes_that_there_are() -> None:
    neighbours = Neighbours(2)
    secret = "0123456789abcdef01234567"
    assert [neighbours.are_meant(session_name(process, secret)) for process in range(4)] == [
        False,
        True,
        False,
        False,
    ]
    neighbours.close()


def test_restarts_are_counted_for_all_of_them() -> None:
    neighbours = Neighbours(2)
    neighbours.count_restart()
    child = os.fork()
    if not child:
        os._exit(neighbours.restarts + 10)
    neighbours.count_restart()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (11, 12)
    assert neighbours.restarts == 2
    neighbours.close()
