"""A hook of the docs site: links to files of the source, which are no pages, become words.

On GitHub they lead to the file. Here the file must be there all the same: a dead one fails the build.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)]*)?\)")
_log = logging.getLogger("mkdocs.hooks.docs_links")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def told(found: re.Match[str]) -> str:
        place = (folder / found[2]).resolve()
        is_page = place.suffix in (".md", ".png", ".svg") and place.is_relative_to(ROOT / "docs")
        if is_page:
            return found[0]
        if not place.exists() or not place.is_relative_to(ROOT):
            _log.warning("%s: leads to %s, which is not there", page.file.src_uri, found[2])
            return found[0]
        name = f"`{place.relative_to(ROOT)}`"
        words = found[1]
        return name if words.strip("`") in name else f"{words} ({name})"

    return _LINK.sub(told, markdown)
