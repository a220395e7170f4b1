"""Plans of 0.1, which name no kind: written anew, so that a stored run stays readable."""

from __future__ import annotations

from typing import Any

from streamgauge.spec.families import all_families
from streamgauge.spec.secrecy import in_the_clear

_OLD_WORK = ("load", "contest", "fanout")
"""Each kind of case had a field of its own, beside a load that was there for all."""

_STRUCK_OUT = "${STRUCK_OUT}"


def up_to_date(content: Any) -> Any:
    """A plan of today as it is; an older one as the family that knows it for its own writes it anew."""
    if not isinstance(content, dict) or "kind" in content or not isinstance(content.get("cases"), list):
        return content
    answers = [(f.is_default, found) for f in all_families() if (found := f.renewed(content)) is not None]
    # Who keeps more of it than its cases knows it best; the default family takes what no other one does.
    answers.sort(key=lambda answer: (answer[0], answer[1]["section"] is None))
    return answers[0][1] if answers else content


def renewed_plan(
    content: dict[str, Any], kind: str, work: str = "load", section: dict[str, Any] | None = None
) -> dict[str, Any]:
    """`work`: the field that says what its cases are about."""
    return {
        "run": content.get("run"),
        "name": content.get("name"),
        "kind": kind,
        "section": section,
        "cases": [_renewed_case(case, kind, work) for case in content["cases"]],
    }


def _renewed_case(case: dict[str, Any], kind: str, work: str) -> dict[str, Any]:
    kept = {name: value for name, value in case.items() if name not in _OLD_WORK}
    kept["target"] = _by_reference("target", kept.get("target"))
    load = case.get("load") or {}
    about = {
        "kind": kind,
        "work": case.get(work),
        "topic_settings": load.get("topics"),
        "time_limit_s": load.get("time_limit"),
        "drain_timeout_s": load.get("drain_timeout"),
    }
    return {**kept, **about, "agents": [_renewed_task(task) for task in case.get("agents", [])]}


def _by_reference(name: str, value: Any) -> Any:
    """Settings without secrets in the clear: 0.1 did not know all that are, and its runs stay readable."""
    if isinstance(value, dict):
        return {key: _by_reference(str(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_by_reference(name, item) for item in value]
    return _STRUCK_OUT if isinstance(value, str) and in_the_clear(name, value) else value


def _renewed_task(task: dict[str, Any]) -> dict[str, Any]:
    return {"share" if name == "clients" else name: value for name, value in task.items()}
