"""Tags: words by which people find a run again. They lie in its own folder, so they go where it goes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir

LATEST = "latest"
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIKE_A_RUN = re.compile(r"\d{8}-\d{6}(-.*)?")


def checked_tags(given: Iterable[str]) -> list[str]:
    """Each once, in their order; BadInput names one that could not be told from something else."""
    tags = list(dict.fromkeys(given))
    for tag in tags:
        if not _TAG.fullmatch(tag):
            raise BadInput(
                f"tag {tag!r}: use up to 64 letters, digits, dots, dashes and underscores, "
                "with a letter or digit first"
            )
        if tag == LATEST or _LIKE_A_RUN.fullmatch(tag):
            raise BadInput(f"tag {tag!r}: would be taken for a run's own name; choose another word")
    return tags


def tags_of(run: RunDir) -> list[str]:
    if not run.has(run.tags):
        return []
    tags = run.read_json(run.tags)
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise CorruptRun(f"{run.url(run.tags)}: not a list of tags; mend it, or remove the file")
    return tags


def tag_run(run: RunDir, add: Iterable[str] = (), remove: Iterable[str] = ()) -> list[str]:
    """The tags that it has then."""
    before, gone = tags_of(run), set(remove)
    tags = [tag for tag in dict.fromkeys([*before, *checked_tags(add)]) if tag not in gone]
    if tags != before:
        run.write_json(run.tags, tags)
    return tags
