"""What a cluster with ACLs allows us, asked before a case begins: then nobody waits for what never comes."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient

from streamgauge.core.errors import Refused, Unreachable
from streamgauge.drivers.contract import Need

_DEADLINE_S = 30.0
_GROUP_DEADLINE_S = 5.0
"""A cluster that has had no group yet may take long to tell who is in charge of one; and a consumer that may
not join is told so itself."""
_DENIED = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }
)


def check_rights(admin: AdminClient, topics: tuple[str, ...], need: Need) -> None:
    """As far as the cluster tells: one without ACLs allows everything, an old one says nothing."""
    if topics:
        _check_topics(admin, topics, need)
    if need.groups:
        groups = admin.describe_consumer_groups(list(need.groups), request_timeout=_GROUP_DEADLINE_S)
        for name, future in groups.items():
            _answer(future, f"group {name}", "Read")


def _check_topics(admin: AdminClient, topics: tuple[str, ...], need: Need) -> None:
    wanted = {"Write": need.writes, "Read": need.reads, "Delete": need.deletes}
    told = admin.describe_topics(
        TopicCollection(list(topics)), include_authorized_operations=True, request_timeout=_DEADLINE_S
    )
    for name, future in told.items():
        found = _answer(future, f"topic {name}", "Describe")
        allowed = None if found is None else found.authorized_operations
        missing = [
            right
            for right, is_needed in wanted.items()
            if is_needed and allowed and AclOperation[right.upper()] not in allowed
        ]
        if missing:
            raise lacking(f"topic {name}", *missing)


def is_denied(error: KafkaException) -> bool:
    return error.args[0].code() in _DENIED


def lacking(what: str, *rights: str) -> Refused:
    """`what`: a kind of resource and its name."""
    operations = " ".join(f"--operation {right}" for right in rights)
    return Refused(
        f"{what}: the user of this target has no right to {', '.join(rights)}; "
        f"grant it: kafka-acls --add --allow-principal User:… {operations} --{what}"
    )


def _answer(future: Future[Any], what: str, right: str) -> Any:
    """None: the cluster does not know what was asked for, or does not answer such questions."""
    try:
        return future.result(_DEADLINE_S + 5)
    except TimeoutError:
        raise Unreachable(f"Kafka does not tell of {what} within {_DEADLINE_S + 5:g} s") from None
    except KafkaException as error:
        if is_denied(error):
            raise lacking(what, right) from None
        return None
