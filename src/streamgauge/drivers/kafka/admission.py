"""Whether a cluster lets us in, by what librdkafka tells of it; and why not, in a line that helps.

librdkafka goes on trying whatever it was told, says of any certificate only that it could not be verified,
and nothing of a listener that speaks TLS. So we have a look of our own, where that is the matter.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError

_REFUSALS = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError.SASL_AUTHENTICATION_FAILED})
"""Trying again has the same result."""
_ALERT = re.compile(r"alert ([a-z ]+): SSL alert number")
"""So it says that a broker does not take our certificate, as a connection that failed."""
_NOT_VERIFIED = "certificate verify failed"
_LOOK_DEADLINE_S = 5.0


class Admission:
    """What a client with these settings was told so far."""

    def __init__(self, client: Mapping[str, Any]) -> None:
        self._client = client
        self._refusal = self._last_error = ""

    def error_cb(self, error: KafkaError) -> None:
        """The client's."""
        if error.code() == KafkaError._ALL_BROKERS_DOWN and self._last_error:
            return  # that follows from what was said before, and says less
        self._last_error = error.str()
        if error.code() in _REFUSALS or _ALERT.search(error.str()):
            self._refusal = error.str()

    def refusal(self) -> str | None:
        """Why we are not let in; None: nobody has said no."""
        if _NOT_VERIFIED in self._refusal and (why := self._why_not_verified()) is not None:
            return f"its certificate is not to be trusted: {why}"
        if (alert := _ALERT.search(self._refusal)) is not None:
            return f"it ends the TLS handshake: {alert[1]}"
        return self._refusal or None

    def last_words(self, otherwise: str) -> str:
        """Of somebody who does not answer."""
        protocol = str(self._client.get("security.protocol", "PLAINTEXT")).upper()
        if "SSL" not in protocol and self._speaks_tls():
            return f"it speaks TLS, and the target's security.protocol is {protocol}"
        return self._last_error or otherwise

    def _why_not_verified(self) -> str | None:
        """In OpenSSL's own words: has expired, is another host's …"""
        try:
            context = ssl.create_default_context(cafile=self._client.get("ssl.ca.location"))
            context.check_hostname = self._client.get("ssl.endpoint.identification.algorithm") != "none"
            self._shake_hands(context)
        except ssl.SSLCertVerificationError as error:
            return str(error.verify_message)
        except (OSError, ValueError):
            pass
        return None

    def _speaks_tls(self) -> bool:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            self._shake_hands(context)
        except (OSError, ValueError):
            return False
        return True

    def _shake_hands(self, context: ssl.SSLContext) -> None:
        host, _, port = str(self._client["bootstrap.servers"]).partition(",")[0].rpartition(":")
        host = host.rpartition("://")[2].strip("[]")
        with (
            socket.create_connection((host, int(port)), _LOOK_DEADLINE_S) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return
