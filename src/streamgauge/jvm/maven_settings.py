"""What the user's Maven settings say of where jars are: local repository and mirror."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

CENTRAL = "https://repo.maven.apache.org/maven2"


def repository_url() -> str:
    """A Maven-layout base address: STREAMGAUGE_MAVEN_URL, else the user's mirror, else Central."""
    chosen = os.environ.get("STREAMGAUGE_MAVEN_URL") or _mirror_of_central() or CENTRAL
    return chosen.rstrip("/")


def local_repository() -> Path:
    """Where Maven on this machine keeps what it has downloaded (it need not exist)."""
    settings = _settings()
    named = _text(settings, "localRepository") if settings is not None else None
    return Path(named) if named else Path.home() / ".m2" / "repository"


def _mirror_of_central() -> str | None:
    settings = _settings()
    if settings is None:
        return None
    for mirror in settings.iterfind(".//{*}mirrors/{*}mirror"):
        of, url = _text(mirror, "mirrorOf"), _text(mirror, "url")
        blocked = _text(mirror, "blocked") == "true"
        if of and url and not blocked and _covers_central(of):
            return url
    return None


def _covers_central(mirror_of: str) -> bool:
    """Maven's own rule: a list of ids and wildcards, where `!id` takes one out."""
    patterns = [pattern.strip() for pattern in mirror_of.split(",")]
    return "!central" not in patterns and bool({"central", "*", "external:*"} & set(patterns))


def _settings() -> ElementTree.Element | None:
    """The user's settings, or None: a file that Maven itself would reject is no reason to stop."""
    try:
        return ElementTree.parse(Path.home() / ".m2" / "settings.xml").getroot()
    except (OSError, ElementTree.ParseError):
        return None


def _text(parent: ElementTree.Element, name: str) -> str | None:
    found = parent.find(f"{{*}}{name}")
    text = (found.text or "").strip() if found is not None else ""
    return _expand(text) or None


def _expand(text: str) -> str:
    """`${user.home}` and `${env.NAME}`, the two that settings files use."""
    text = text.replace("${user.home}", str(Path.home()))
    return re.sub(r"\$\{env\.([^}]+)\}", lambda match: os.environ.get(match[1], ""), text)
