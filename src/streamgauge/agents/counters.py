"""What client libraries count, added up."""

from __future__ import annotations

from collections.abc import Mapping


def added(*counters: Mapping[str, int]) -> dict[str, int]:
    """What clients counted together; JNI calls are those of the whole process, whoever is asked."""
    names = {name for counted in counters for name in counted}
    return {
        name: (max if name == "jni_calls" else sum)(counted.get(name, 0) for counted in counters)
        for name in names
    }
