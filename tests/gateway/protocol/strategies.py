"""Values and requests as the tests draw them."""

from __future__ import annotations

import json

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
tricky = st.sampled_from(
    ["#", "$", "^", "^3", "^Pxx", "a|b", "100%", "%7C", "\r\n", "#x", "a,b", "é€", "😀", " ", "|"]
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**14), 10**14),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    texts,
)
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(texts, inner, max_size=5)),
    max_leaves=20,
)
containers = st.one_of(st.lists(documents, max_size=6), st.dictionaries(texts, documents, max_size=6))


@st.composite
def edited(draw, document):
    """The document after a few changes, somewhere in it."""
    changed = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(0, 3))):
        place = changed
        while True:
            inner = [
                v
                for v in (place.values() if isinstance(place, dict) else place)
                if isinstance(v, dict | list)
            ]
            if not inner or draw(st.booleans()):
                break
            place = draw(st.sampled_from(inner))
        if isinstance(place, dict):
            key = draw(st.one_of(texts, st.sampled_from(sorted(place)))) if place else draw(texts)
            if key in place and draw(st.booleans()):
                del place[key]
            else:
                place[key] = draw(documents)
        elif place and draw(st.booleans()):
            del place[draw(st.integers(0, len(place) - 1))]
        else:
            place.insert(draw(st.integers(0, len(place))), draw(documents))
    return changed
