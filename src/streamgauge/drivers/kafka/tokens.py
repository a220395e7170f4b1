"""Tokens for OAUTHBEARER, fetched for libraries that want them handed over."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.kafka.security import TokenSource

_DEADLINE_S = 10.0
_USED_UP = 0.8
"""Of its life a token is used for so much: then there is a new one, as Kafka's own client does."""
_MOST_BYTES = 1_000_000
_USUAL_LIFE_S = 300.0


class Tokens:
    """One token at a time, for all connections of a client; from whichever thread."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._token, self._until_s = "", 0.0

    def get(self) -> str:
        with self._lock:
            if time.monotonic() >= self._until_s:
                self._token, life_s = _fetch(self._source)
                self._until_s = time.monotonic() + _USED_UP * life_s
            return self._token


def handed_over(source: TokenSource | None, provider: Callable[[Tokens], Any]) -> dict[str, Any]:
    """The setting that both libraries written in Python have for it; `provider`: what each wants it to be."""
    return {} if source is None else {"sasl_oauth_token_provider": provider(Tokens(source))}


def _fetch(source: TokenSource) -> tuple[str, float]:
    form = {"grant_type": "client_credentials"} | ({"scope": source.scope} if source.scope else {})
    pair = f"{quote(source.client_id, safe='')}:{quote(source.client_secret, safe='')}"
    headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if not source.url.startswith(("http://", "https://")):
        raise BadInput(
            f"token endpoint {source.url}: must be an address that begins with https:// or http://"
        )
    try:
        request = Request(source.url, urlencode(form).encode(), headers)
        with urlopen(request, timeout=_DEADLINE_S) as answer:
            told = json.loads(answer.read(_MOST_BYTES))
        return str(told["access_token"]), float(told.get("expires_in", _USUAL_LIFE_S))
    except HTTPError as error:
        with error:
            raise BadInput(
                f"token endpoint {source.url}: refuses client {source.client_id}: "
                f"{error.code} {error.reason}; check its id and secret"
            ) from None
    except (URLError, OSError) as error:
        why = getattr(error, "reason", error)
        raise Unreachable(f"token endpoint {source.url}: cannot be reached: {why}") from None
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f"token endpoint {source.url}: what it answers is no token; check the address"
        ) from None
