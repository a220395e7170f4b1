"""The pictures of the docs: each family has one, and the command that takes it works."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.docs_pictures import FAMILIES, FILES, FOLDER, OTHERS, take

from streamgauge import families
from streamgauge.cli.commands import _command
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import load_workload
from tests.test_tutorial import parsed

DOCS = FOLDER.parent
SHIPPED = Path(families.__file__).parent
MOST_BYTES = 2_000_000


def test_every_family_has_a_command_for_its_picture() -> None:
    assert set(FAMILIES) == {folder.parent.name for folder in SHIPPED.glob("*/family.py")}


@pytest.mark.parametrize("name", [*FAMILIES, *OTHERS])
def test_a_picture_that_was_taken_is_shown_on_a_page(name: str) -> None:
    pages = "".join(page.read_text("utf-8") for page in DOCS.glob("*.md"))
    assert (f"(pictures/{name}.png)" in pages) == (FOLDER / f"{name}.png").is_file()


def test_all_of_them_together_are_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("name", FAMILIES)
def test_the_command_of_each_has_these_flags(name: str) -> None:
    command, *flags = FAMILIES[name].arguments
    parsed(_command(command, None), command, flags)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".yaml")])
def test_each_workload_is_one_of_the_family_that_it_shows(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], "utf-8")
    plan = make_plan(load_workload(tmp_path / name), "run")
    assert FAMILIES[plan.kind].arguments == ("run", name)
    assert plan.cases


@pytest.mark.browser
@pytest.mark.process
def test_a_picture_is_taken_of_a_run_that_is_made_now(tmp_path: Path) -> None:
    """Of the family that needs no broker and no Spark."""
    assert take("imported", tmp_path / "imported", tmp_path)
    assert (tmp_path / "imported.png").read_bytes().startswith(b"\x89PNG")
