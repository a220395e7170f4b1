"""Stages know families by contract alone: none names one, nor asks of which kind a run is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamgauge
from streamgauge.spec.families import kinds

SOURCES = Path(streamgauge.__file__).parent
STAGES = (
    "core",
    "spec",
    "tables",
    "plan",
    "payload",
    "recording",
    "agents",
    "launch",
    "analysis",
    "report",
    "comparing",
    "serve",
    "cli",
    "api",
)

ORDINARY = {"limit", "compare"}
"""Kinds that are also words of everyday: they may be in a name, as in `time_limit`."""
OWN_WORDS = {"comparison", "comparisons", "contest", "referee", "fanout", "harness"}
"""What families call their parts."""

EXEMPT = {
    "plan/old_plans.py": {"contest", "fanout"},  # fields of a plan.json of 0.1
    "report/cause_words.py": {"comparison", "comparisons"},  # words of all causes are made in one place
}


def modules() -> list[Path]:
    return sorted(path for stage in STAGES for path in (SOURCES / stage).rglob("*.py"))


def named_families(source: str, families: set[str]) -> set[str]:
    """Families, and words of theirs, that code names: in a name, in a text that is no comment."""
    distinctive = (families - ORDINARY) | OWN_WORDS
    tree = ast.parse(source)
    found = {word for text in _texts(tree) for word in _words(text) if word in distinctive}
    found |= {kind for kind in _compared(tree) if kind in families}
    return found | {module for module in _imported(tree) if module.startswith("streamgauge.families")}


def _texts(tree: ast.AST) -> Iterator[str]:
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.alias):
            yield node.name


def _words(text: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
    return set(re.split(r"[^a-z0-9]+|_", apart))


def _compared(tree: ast.AST) -> Iterator[str]:
    """Texts that something is compared with: `plan.kind == "limit"`, `case "limit"`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and _asks_for_a_kind(node):
            for side in (node.left, *node.comparators):
                yield from (
                    part.value
                    for part in ast.walk(side)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
        elif isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def _asks_for_a_kind(node: ast.Compare) -> bool:
    asked = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    asked |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(asked & {"kind", "family", "name"})


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_stage_names_a_family(module: Path) -> None:
    place = str(module.relative_to(SOURCES))
    named = named_families(module.read_text(), set(kinds())) | (_words(module.stem) & OWN_WORDS)
    assert named <= EXEMPT.get(place, set()), f"{place} names {', '.join(sorted(named))}"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("if plan.kind == 'limit': pass", {"limit"}),
        ("if plan.name != 'transports': pass", {"transports"}),
        ("if case.kind in ('compare', 'other'): pass", {"compare"}),
        ("match kind:\n  case 'limit': pass", {"limit"}),
        ("def fanout_parts(): pass", {"fanout"}),
        ("class FanoutLife: pass", {"fanout"}),
        ("x = case.contest", {"contest"}),
        ("document['comparison']", {"comparison"}),
        ("from streamgauge.families.toy.family import Toy", {"streamgauge.families.toy.family"}),
        ("time_limit_s = compare(kind, 'other')", set()),
        ('"""A sweep of fanout, in words."""', set()),
    ],
)
def test_the_check_finds_what_it_looks_for(source: str, named: set[str]) -> None:
    assert named_families(source, set(kinds())) == named
