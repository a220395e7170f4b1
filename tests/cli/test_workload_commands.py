from __future__ import annotations

import pytest
import typer.exceptions

from streamgauge.cli.workload_commands import first_flags, workload_families, workload_of
from streamgauge.core.errors import BadInput

LIMIT = workload_families()["limit"].command("limit")


def test_a_command_that_makes_no_workload_is_not_among_them() -> None:
    assert "import" not in workload_families()
    assert {"e2e", "limit", "compare"} <= set(workload_families())


def test_a_workload_is_made_of_flags_as_the_command_makes_it() -> None:
    made = workload_of("limit", LIMIT, ["--slo", "p99<5ms", "--size", "2KiB"])
    assert (made.kind, made.model_dump(mode="json")["load"]["message"]["size"]) == ("limit", 2048)


def test_a_command_that_needs_flags_says_with_which_a_first_workload_is_made() -> None:
    with pytest.raises(BadInput, match="say what is to hold"):
        workload_of("limit", LIMIT, [])
    assert workload_of("limit", LIMIT, first_flags(LIMIT)).kind == "limit"
    assert first_flags(workload_families()["e2e"].command("e2e")) == ()


def test_a_flag_that_there_is_not_is_refused() -> None:
    with pytest.raises(typer.exceptions.TyperException, match="--nonsense"):
        workload_of("limit", LIMIT, ["--nonsense", "1"])
