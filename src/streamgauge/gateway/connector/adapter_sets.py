"""A configuration → the sources that the server is given."""

from __future__ import annotations

import logging
import secrets

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration import GatewayConfiguration
from streamgauge.gateway.connector.librdkafka_settings import check_client, what_is_not_done
from streamgauge.gateway.connector.parameters import BadParameter
from streamgauge.gateway.connector.source import KafkaSource
from streamgauge.gateway.server.authentication import load_users
from streamgauge.gateway.server.contract import DEFAULT_DATA_ADAPTER, AdapterSet

LOGGER = logging.getLogger("streamgauge.gateway")


def make_adapter_set(
    configuration: GatewayConfiguration, *, process: int = 0, processes: int = 1
) -> AdapterSet:
    """Sources for one process. Raises BadInput where schemas, stores or users cannot be read."""
    sources = {}
    for name, settings in configuration.connections.items():
        group = settings.group_id or f"{configuration.adapter_set}-{name}-{secrets.token_hex(8)}"
        if processes > 1:
            # Each process has clients of its own and needs all records: in one group they would share them.
            group += f"-{process + 1}"
        try:
            sources[name] = KafkaSource(name, settings, group)
            check_client(settings)
        except BadParameter as error:
            raise BadInput(f"{configuration.place(name, error.parameter)}: {error.words}") from None
    users = configuration.server.users
    return AdapterSet(
        name=configuration.adapter_set,
        sources=sources,
        authenticator=load_users(users, configuration.server.limits) if users is not None else None,
        default_source=_default(sources),
    )


def warn_of_what_is_not_done(configuration: GatewayConfiguration) -> None:
    for name, settings in configuration.connections.items():
        for line in what_is_not_done(settings):
            LOGGER.warning("connection %s: %s", name, line)


def _default(sources: dict[str, KafkaSource]) -> str:
    """A single connection is meant when a client names none, whatever it is called."""
    return next(iter(sources)) if len(sources) == 1 else DEFAULT_DATA_ADAPTER
