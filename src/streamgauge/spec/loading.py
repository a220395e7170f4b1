"""Reading workloads and targets from YAML; errors name the file and the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.spec.load import FileLines, Load
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload

Model = TypeVar("Model", bound=BaseModel)


def load_workload(path: Path) -> Workload:
    """A workload; a target in it may be a file's name, taken from the workload's folder."""
    return workload_in(read_mapping(path), path)


def workload_in(content: dict[str, Any], path: Path) -> Workload:
    """The same of a file that has been read already: a pipe can be read once."""
    targets = content.get("targets")
    if isinstance(targets, list):
        content["targets"] = [
            load_target(path.parent / item) if isinstance(item, str) else item for item in targets
        ]
    workload = parse(Workload, content, str(path))
    return _with_absolute_files(workload, path.parent)


def load_target(path: Path) -> Target:
    return parse(Target, read_mapping(path), str(path))


def parse(model: type[Model], content: object, source: str, whole: str = "the file") -> Model:
    """Validate; all that is wrong becomes one line a fault. `whole`: what faults of no one field are of."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = (
            ": ".join(part for part in (source, place or whole, words) if part)
            for place, words in faults(error).items()
        )
        raise BadInput("\n".join(lines)) from None


def faults(error: ValidationError) -> dict[str, str]:
    """Place → what is wrong there; a fault of a part hides what follows from it in the whole."""
    found: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        # A name in angle brackets is a branch of a union, not a field.
        place = ".".join(str(part) for part in fault["loc"] if not str(part).startswith("<"))
        found.setdefault(place, _words(fault["type"], fault["msg"], fault["input"]))
    return {
        place: words
        for place, words in found.items()
        if not any(other.startswith(f"{place}.") for other in found)
    }


def dump_yaml(model: BaseModel) -> str:
    """The model as a file that `load_workload` reads back; defaults are left out."""
    content = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    # PyYAML writes some line ends of Unicode as they are, and reads them as blanks.
    return text if yaml.safe_load(text) == content else yaml.safe_dump(content, sort_keys=False)


def read_mapping(path: Path) -> dict[str, Any]:
    """The fields of a YAML file."""
    try:
        text = path.read_text()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text") from None
    return mapping_in(text, str(path))


def mapping_in(text: str, source: str) -> dict[str, Any]:
    """The same of a text that has been read already."""
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that there is not
        raise BadInput(f"{source}: is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise BadInput(f"{source}: must be a mapping of fields at its top level")
    return content


def _with_absolute_files(workload: Workload, folder: Path) -> Workload:
    """Agents may run elsewhere than the workload file lies."""
    load = getattr(workload, "load", None)
    size = load.message.size if isinstance(load, Load) else None
    if not isinstance(size, FileLines) or Path(size.lines_of).is_absolute():
        return workload
    content = workload.model_dump(mode="json", by_alias=True)
    content["load"]["message"]["size"] = {"lines_of": str((folder / size.lines_of).absolute())}
    return Workload.model_validate(content)


def _words(kind: str, message: str, given: object) -> str:
    if kind == "extra_forbidden":
        return "unknown field"
    if kind == "missing":
        return "this field is required"
    if "Input should be" in message:
        return message.replace("Input should be", "must be") + f", not {given!r}"
    return message.removeprefix("Value error, ")
