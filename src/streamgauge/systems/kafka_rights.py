"""What a run has to be allowed on a cluster with ACLs, and granting it: exactly that and nothing else.

Kafka implies the right to describe in those to read, write, delete and alter.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from typing import Any, Literal, get_args

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from streamgauge.core.errors import SystemFailed

Right = Literal["create", "delete", "write", "read", "group", "transactions"]
RIGHTS: tuple[Right, ...] = get_args(Right)
_OF: Mapping[Right, tuple[ResourceType, AclOperation]] = {
    "create": (ResourceType.TOPIC, AclOperation.CREATE),
    "delete": (ResourceType.TOPIC, AclOperation.DELETE),
    "write": (ResourceType.TOPIC, AclOperation.WRITE),
    "read": (ResourceType.TOPIC, AclOperation.READ),
    "group": (ResourceType.GROUP, AclOperation.READ),
    "transactions": (ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE),
}
_DEADLINE_S = 20.0
_LOOK_S = 0.05
_LOOKS = 3
"""Times in a row that they have to be found: whichever broker is asked, it has to know of them."""


def grant(connection: Mapping[str, Any], user: str, rights: Collection[Right]) -> None:
    """On topics, groups and transactions of any name; returns when brokers know of it. `connection`: in
    librdkafka's words, of somebody who may grant."""
    admin = AdminClient(dict(connection))
    wanted = [binding(user, *_OF[right]) for right in rights]
    until, found = time.monotonic() + _DEADLINE_S, 0
    try:
        if wanted:
            _wait(admin.create_acls(wanted))
        while found < _LOOKS:
            there = admin.describe_acls(_any_of(user)).result(_DEADLINE_S)
            found = found + 1 if set(map(str, wanted)) <= set(map(str, there)) else 0
            if found < _LOOKS and time.monotonic() > until:
                raise SystemFailed(f"Kafka's brokers do not know of rights within {_DEADLINE_S:g} s")
            time.sleep(_LOOK_S)
    except (KafkaException, TimeoutError) as error:
        raise SystemFailed(f"rights could not be granted to {user}: {error}") from None


def binding(
    user: str, kind: ResourceType, operation: AclOperation, name: str = "*", *, allows: bool = True
) -> AclBinding:
    permission = AclPermissionType.ALLOW if allows else AclPermissionType.DENY
    return AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, permission)


def _wait(futures: Mapping[AclBinding, Future[None]]) -> None:
    for future in futures.values():
        future.result(_DEADLINE_S)


def _any_of(user: str) -> AclBindingFilter:
    return AclBindingFilter(
        ResourceType.ANY,
        None,
        ResourcePatternType.ANY,
        f"User:{user}",
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
