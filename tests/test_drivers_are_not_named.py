"""Drivers and systems are known by contract: none is named outside its room, nor is its module imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamgauge
from streamgauge.core.entry_points import points_of
from streamgauge.drivers.registry import GROUP as DRIVERS
from streamgauge.spec.system import GROUP as SYSTEMS

SOURCES = Path(streamgauge.__file__).parent
ROOMS = {DRIVERS: "drivers", SYSTEMS: "systems"}
"""By group of entry points: where its own may be named."""

ORDINARY = {"aeron", "simulated", "zeromq"}
"""Names that are also words of everyday: they are a driver's where a driver is asked for or given."""
CHOSEN_BY = {"driver", "kind"}
"""What a target calls its choice: a key, a field, a parameter."""
OF_ALL_SYSTEMS = {"contract", "disks", "equipment", "links", "members", "standing", "processes"}
"""Modules of their room that are about none of them."""


def modules() -> list[Path]:
    return sorted(SOURCES.rglob("*.py"))


def ours(group: str) -> dict[str, str]:
    """Name → module of what this package itself has in a group."""
    points = points_of(group).items()
    return {name: point.module for name, point in points if point.module.startswith("streamgauge.")}


def named(source: str, names: set[str], own_modules: set[str]) -> set[str]:
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    }
    words = {word.strip(".,;:") for text in texts for word in text.split()}
    found = (names - ORDINARY) & words
    found |= names & set(_chosen(tree))
    return found | own_modules & set(_imported(tree))


def _chosen(tree: ast.AST) -> Iterator[str]:
    """{"driver": "aeron"}, Target(driver="aeron"), target.driver == "aeron"."""
    for node in ast.walk(tree):
        pairs: list[tuple[str, ast.AST]] = []
        if isinstance(node, ast.Dict):
            pairs = [(_word(key), value) for key, value in zip(node.keys, node.values, strict=True)]
        elif isinstance(node, ast.Compare):
            pairs = [(_word(node.left), side) for side in node.comparators]
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg or "", node.value)]
        for word, choice in pairs:
            if word in CHOSEN_BY:
                parts = (part.value for part in ast.walk(choice) if isinstance(part, ast.Constant))
                yield from (part for part in parts if isinstance(part, str))


def _word(node: ast.AST | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else str(getattr(node, "attr", ""))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("group", ROOMS)
def test_no_driver_and_no_system_is_named_outside_its_room(group: str) -> None:
    there = ours(group)
    found = {
        str(module.relative_to(SOURCES)): names
        for module in modules()
        if module.relative_to(SOURCES).parts[0] != ROOMS[group]
        if (names := named(module.read_text(), set(there), set(there.values())))
    }
    assert found == {}


def test_outside_families_of_systems_only_what_is_about_all_of_them_is_imported() -> None:
    """A family may have a system that no target can ask for: it is what that family measures."""
    imported = {
        (str(module.relative_to(SOURCES)), name)
        for module in modules()
        if module.relative_to(SOURCES).parts[0] not in ("families", "systems")
        for name in _imported(ast.parse(module.read_text()))
        if name.startswith("streamgauge.systems.") and name.split(".")[2] not in OF_ALL_SYSTEMS
    }
    assert imported == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("target = {'driver': 'aeron'}", {"aeron"}),
        ("Target(name='x', driver='zeromq')", {"zeromq"}),
        ("if target.driver == 'simulated': pass", {"simulated"}),
        ("x = 'kafka_confluent'", {"kafka_confluent"}),
        ("fail('allowed: kafka_confluent, push_websocket')", {"kafka_confluent", "push_websocket"}),
        ("import streamgauge.drivers.zeromq.driver", {"streamgauge.drivers.zeromq.driver"}),
        ("from streamgauge.drivers.zeromq.driver import ZeroMq", {"streamgauge.drivers.zeromq.driver"}),
        ("from streamgauge.drivers.zeromq import driver", {"streamgauge.drivers.zeromq.driver"}),
        ("names = ('aeron', 'zeromq')", set()),
        ('"""As kafka_confluent does."""', set()),
        ("from streamgauge.drivers.contract import Driver", set()),
    ],
)
def test_the_check_finds_what_it_looks_for(source: str, found: set[str]) -> None:
    there = ours(DRIVERS)
    assert named(source, set(there), set(there.values())) == found
