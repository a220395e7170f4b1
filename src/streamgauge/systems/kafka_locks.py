"""The locks of one cluster that is started: what they are made of, who gives out tokens, who may do what."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from streamgauge.core.errors import BadInput, SystemFailed
from streamgauge.systems.kafka_properties import Node
from streamgauge.systems.kafka_rights import RIGHTS, Right, grant
from streamgauge.systems.kafka_security import CLIENT, FOLDER, KafkaSecurity, SecurityKind
from streamgauge.systems.ports import HOST
from streamgauge.systems.processes import end, spawn, why_it_ended
from streamgauge.systems.token_terms import MODULE, PLACE_FILE

SECURITY_FILE = "_security"
"""Behind the name of an endpoint: the file with what clients need to get in there."""
TOKEN_ENDPOINT = "token-endpoint"
_TOKENS_DEADLINE_S = 30.0
_POLL_S = 0.02


class KafkaLocks:
    def __init__(
        self, kinds: Sequence[SecurityKind], *, acls: bool = False, without: Collection[Right] = ()
    ) -> None:
        """`without`: rights that clients do not have though a run needs them."""
        if len(set(kinds)) != len(kinds):
            raise BadInput(f"system.security: {', '.join(kinds)}: each at most once")
        if (acls or without) and not kinds:
            raise BadInput("system.acls: without system.security nobody knows who a client is; say both")
        if without and not acls:
            raise BadInput("system.without: rights can be missing only where there are ACLs; say acls: true")
        self.kinds, self._acls = tuple(kinds), acls
        self._rights = [right for right in RIGHTS if right not in without]
        self._tokens: subprocess.Popen[bytes] | None = None
        self.security: KafkaSecurity

    def prepare(
        self, data: Path, nodes: Sequence[Node], log: Path, *, dies_with_parent: bool, lock_fd: int
    ) -> None:
        """Before the brokers' properties are written."""
        self.security = KafkaSecurity(data / FOLDER, self.kinds, acls=self._acls)
        if "oauth" in self.kinds:
            module = [sys.executable, "-m", MODULE, str(self.security.folder)]
            self._tokens = spawn(module, log, dies_with_parent=dies_with_parent, pass_fds=[lock_fd])
            self.security.tokens_url = self._tokens_url(self._tokens, log)
        self.security.write_client_files(nodes)

    def _tokens_url(self, process: subprocess.Popen[bytes], log: Path) -> str:
        place, until = self.security.folder / PLACE_FILE, time.monotonic() + _TOKENS_DEADLINE_S
        while not place.exists():
            if process.poll() is not None:
                raise SystemFailed(f"the token endpoint ended at start: {why_it_ended(process, log)}")
            if time.monotonic() > until:
                raise SystemFailed(
                    f"the token endpoint was not ready after {_TOKENS_DEADLINE_S:g} s; see {log}"
                )
            time.sleep(_POLL_S)
        return place.read_text()

    def open(self, nodes: Sequence[Node]) -> None:
        """Let clients do what they need to, once the brokers are there."""
        if self._acls:
            grant(self.security.admin_connection(nodes), CLIENT, self._rights)

    def endpoints(self, nodes: Sequence[Node]) -> dict[str, str]:
        """By the first way in."""
        at = ",".join(f"{HOST}:{node.door_ports[0]}" for node in nodes)
        file = self.security.client_file(self.kinds[0])
        return {"bootstrap": at, f"bootstrap{SECURITY_FILE}": str(file)}

    def client_files(self) -> dict[str, str]:
        return {kind: str(self.security.client_file(kind)) for kind in self.kinds}

    def processes(self) -> dict[str, int]:
        return {} if self._tokens is None else {TOKEN_ENDPOINT: self._tokens.pid}

    def ended(self) -> bool:
        return self._tokens is not None and self._tokens.poll() is not None

    def stop(self) -> None:
        if self._tokens is not None:
            end([self._tokens])
            self._tokens = None

    def release(self) -> None:
        if self._tokens is not None:
            self._tokens.returncode = 0  # Else Popen warns of a child nobody waited for.
            self._tokens = None

    def words(self) -> str:
        """As in `security scram, mtls with ACLs`."""
        return f"security {', '.join(self.kinds)}{' with ACLs' if self._acls else ''}"
