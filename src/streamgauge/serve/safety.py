"""Who may ask for what: the name we are asked by, the page that asks, a token, and what browsers are told.

A page from elsewhere must not act in a user's name (forged requests), nor get at answers under a name that
its owner lets lead here (DNS rebinding); and what is shown must not run as a part of us. Each of these is
refused in one place, here, before a page is asked.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from http import HTTPStatus

from streamgauge.gateway.server.origins import Origins, is_rebindable
from streamgauge.serve.failed_logins import FailedLogins
from streamgauge.serve.requests import Answer, Cookies, Flow, Headers, Refused, Request, redirect

CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
TOKEN_FIELD = "token"
LOGIN_PATH = ("login",)
_OPEN_PATHS = ("static", "reports")
"""Reports have a key of their own in their address: a page in a sandbox sends no cookie."""
_SAFE_METHODS = ("GET", "HEAD")
_KEY_LENGTH = 32

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
"""A run folder may come from anywhere: its page runs as nobody's, and can ask for nothing."""
_ALWAYS: Headers = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),  # with less, browsers send our own forms without their origin
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)


class Safety:
    """`token`: None where only this machine can come here, and nobody asked for one."""

    def __init__(self, own_host: str, token: str | None, port: int = 0) -> None:
        self._origins, self._own_host, self._token = Origins((), own_host), own_host.lower(), token
        self.cookie = f"streamgauge-{port}"
        self._session = secrets.token_urlsafe(_KEY_LENGTH)
        self._key = secrets.token_bytes(_KEY_LENGTH)
        self._failed = FailedLogins()

    @property
    def needs_token(self) -> bool:
        return self._token is not None

    @property
    def csrf(self) -> str:
        """What our own forms send along; a page from elsewhere cannot read it."""
        return self._signed("csrf")

    def report_key(self, run: str) -> str:
        return self._signed(f"report {run}")

    def opens_report(self, key: str, run: str) -> bool:
        return _is_same(key, self.report_key(run))

    def check(self, request: Request) -> Answer | None:
        """An answer in place of the page; None: go on. Raises Refused."""
        self._check_host(request)
        self._check_origin(request)
        if request.path[:1] and request.path[0] in _OPEN_PATHS and request.method in _SAFE_METHODS:
            return None
        if (token := request.asked(TOKEN_FIELD)) and request.method in _SAFE_METHODS and self.needs_token:
            return self.log_in(token, request)
        if self._is_bearer(request):
            return None
        is_known = _is_same(Cookies.of(request).sent.get(self.cookie, ""), self._session)
        if request.path == LOGIN_PATH:
            return None
        if self.needs_token and not is_known:
            return redirect("/login")
        if request.method not in _SAFE_METHODS:
            self._check_csrf(request, is_known=is_known)
        return None

    def log_in(self, token: str, request: Request) -> Answer:
        """To where was asked for, without the token in the address."""
        if self._failed.are_too_many(request.peer):
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "too many wrong tokens; wait a minute")
        if self._token is None or not _is_same(token, self._token):
            self._failed.add(request.peer)
            raise Refused(
                HTTPStatus.FORBIDDEN, "this is not the token; streamgauge serve printed it at its start"
            )
        path = "/" if request.path == LOGIN_PATH else "/" + "/".join(request.path)
        return redirect(path if path.isascii() else "/", self.session_cookie())

    def session_cookie(self) -> tuple[str, str]:
        return ("Set-Cookie", f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict")

    def dressed(self, answer: Answer | Flow, request: Request) -> Answer | Flow:
        """With what a browser has to know of it."""
        own = {name.lower() for name, _ in answer.headers}
        added = [*_ALWAYS]
        if "content-security-policy" not in own:
            added += [("Content-Security-Policy", PAGE_POLICY), ("X-Frame-Options", "DENY")]
        if not self.needs_token and "set-cookie" not in own and request.path[:1] != ("reports",):
            added.append(self.session_cookie())
        headers = (*answer.headers, *added)
        if isinstance(answer, Flow):
            return Flow(answer.chunks, answer.content_type, headers)
        return Answer(answer.body, answer.status, answer.content_type, headers)

    def _check_host(self, request: Request) -> None:
        host = request.headers.get("host", "")
        name = host.lower().rpartition(":")[0] if ":" in host.rpartition("]")[2] else host.lower()
        if not host or "," in host or (is_rebindable(host) and name != self._own_host):
            raise Refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "ask for this server by its address, by localhost, or by the name given with --host",
            )

    def _check_origin(self, request: Request) -> None:
        """A browser says where a request comes from; whoever is no browser has no user to act for."""
        headers, is_safe = request.headers, request.method in _SAFE_METHODS
        is_visit = headers.get("sec-fetch-mode") == "navigate" and is_safe
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_visit:
            raise Refused(HTTPStatus.FORBIDDEN, "a page from elsewhere may not use this server")
        if not is_safe and not self._origins.allows(headers.get("origin"), headers.get("host", "")):
            raise Refused(HTTPStatus.FORBIDDEN, "a page from elsewhere may not use this server")

    def _check_csrf(self, request: Request, *, is_known: bool) -> None:
        sent = request.headers.get(CSRF_HEADER) or request.form.get(CSRF_FIELD, [""])[0]
        if not is_known or not _is_same(sent, self.csrf):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "this form is from another server, or from before this one was restarted; reload the page",
            )

    def _is_bearer(self, request: Request) -> bool:
        """A program that has the token: nothing of it is sent by itself, so nothing of it can be forged."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return self._token is not None and kind.lower() == "bearer" and _is_same(given.strip(), self._token)

    def _signed(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _is_same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())
