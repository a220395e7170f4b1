from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.spec import families
from streamgauge.spec.families import all_families, broken_families, family_of, kind_by_fields, kinds
from streamgauge.spec.family import Family


class Misnamed(Family):  # type: ignore[type-arg]
    kind = "other"

    def workload_model(self) -> type:
        raise NotImplementedError

    def expand(self, workload: object, run_id: str) -> list[Any]:
        raise NotImplementedError


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three families of others that are no good, beside ours."""
    points = {
        **families._entry_points(),
        "missing": EntryPoint("missing", "no.such.module:Thing", families.GROUP),
        "misnamed": EntryPoint("misnamed", f"{__name__}:Misnamed", families.GROUP),
        "odd": EntryPoint("odd", "os:path", families.GROUP),
    }
    monkeypatch.setattr(families, "_entry_points", lambda: points)
    broken_families.cache_clear()
    yield
    broken_families.cache_clear()


def test_every_family_of_ours_is_found_by_its_kind() -> None:
    assert kinds() == ["compare", "e2e", "fanout", "imported", "limit", "sweep", "transports"]
    for kind in kinds():
        family = family_of(kind)
        assert family.kind == kind
        assert family is family_of(kind)
        assert family.workload_model().model_fields["kind"].default == kind
        # What was measured elsewhere is taken in, not run.
        assert ("import" if kind == "imported" else kind) in family.commands


def test_one_family_alone_is_the_default() -> None:
    assert [family.kind for family in all_families() if family.is_default] == ["e2e"]


@pytest.mark.parametrize("kind", ["nothing", "", None, 5, ["e2e"]])
def test_a_kind_that_there_is_not_is_refused_with_what_is_allowed(kind: object) -> None:
    with pytest.raises(BadInput, match="allowed: compare, e2e"):
        family_of(kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "error", "why"),
    [
        ("missing", NotInstalled, "family missing cannot be loaded: No module named 'no'"),
        ("misnamed", BadInput, "says that its kind is 'other'"),
        ("odd", BadInput, "os:path is not a streamgauge family"),
    ],
)
def test_a_broken_family_says_why_and_keeps_nobody_from_the_others(
    broken: None, kind: str, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        family_of(kind)
    assert set(broken_families()) == {"missing", "misnamed", "odd"}
    assert [family.kind for family in all_families()] == [k for k in kinds() if k not in broken_families()]
    assert kind_by_fields(["targets", "load"]) == "e2e"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (["load"], "e2e"),
        ([], "e2e"),
        (["load", "sweep"], "sweep"),
        (["load", "cases"], "sweep"),
        (["load", "iterations"], "sweep"),
        (["load", "search"], "limit"),
        (["comparison"], "compare"),
        (["fanout"], "fanout"),
        (["load", "harness"], "transports"),
        (["load", "harness", "cases"], "transports"),
    ],
)
def test_a_file_without_a_kind_is_known_by_its_fields(fields: list[str], kind: str) -> None:
    assert kind_by_fields(["name", "targets", *fields]) == kind


def test_a_file_that_could_be_of_two_kinds_has_to_say_which() -> None:
    with pytest.raises(BadInput, match="add the line `kind: limit` or `kind: sweep`"):
        kind_by_fields(["load", "search", "cases"])
