"""A gateway from its configuration, until somebody ends it.

As a program of its own (`python -m streamgauge.gateway.server.gateway_process`) it is what runs start.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamgauge.core.errors import StreamgaugeError
from streamgauge.gateway.connector.adapter_sets import make_adapter_set, warn_of_what_is_not_done
from streamgauge.gateway.connector.configuration import (
    GatewayConfiguration,
    GatewaySettings,
    load_configuration,
)
from streamgauge.gateway.demo.pages import demo_pages
from streamgauge.gateway.demo.web_client import WebClientUnavailable
from streamgauge.gateway.server.safety import unsafe_settings
from streamgauge.gateway.server.server import Page
from streamgauge.gateway.server.serving import Addresses, serve
from streamgauge.gateway.server.settings import LISTENING, MONITORING
from streamgauge.spec.loading import parse

LOGGER = logging.getLogger("streamgauge.gateway")


def run_gateway(
    configuration: GatewayConfiguration,
    *,
    processes: int = 1,
    demo: bool = True,
    ready: Callable[[Addresses], None],
) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is told where. Raises BadInput for what cannot be used."""
    if processes > 1:
        make_adapter_set(configuration)  # What is wrong is said once, here, and not by every process.
    warn_of_what_is_not_done(configuration)
    for finding in unsafe_settings(configuration):
        LOGGER.warning("%s", finding)
    serve(
        configuration.server,
        lambda process: make_adapter_set(configuration, process=process, processes=processes),
        processes=processes,
        pages=_pages(configuration) if demo else {},
        ready=ready,
    )


def with_settings(
    configuration: GatewayConfiguration, given: dict[str, Any], limits: dict[str, Any]
) -> GatewayConfiguration:
    """Settings of the server that go before those of the file; None: not given. Raises BadInput."""
    content = configuration.server.model_dump()
    content |= {name: value for name, value in given.items() if value is not None}
    content["limits"] |= {name: value for name, value in limits.items() if value is not None}
    return replace(configuration, server=parse(GatewaySettings, content, "gateway"))


def log_to_stderr(level: int = logging.WARNING) -> None:
    """Warnings of the gateway are for whoever runs it, whatever the rest of the program logs."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    LOGGER.propagate = False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--settings", default="{}", help="JSON: settings of the server")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    log_to_stderr()
    try:
        given = json.loads(arguments.settings)
        limits = given.pop("limits", {})
        configuration = with_settings(load_configuration(arguments.config), given, limits)
        run_gateway(configuration, processes=arguments.processes, demo=False, ready=_say_ready)
    except StreamgaugeError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(error.exit_code)


def _say_ready(addresses: Addresses) -> None:
    sys.stdout.write(f"{MONITORING}{addresses.monitoring}\n{LISTENING}{addresses.clients}\n")
    sys.stdout.flush()


def _pages(configuration: GatewayConfiguration) -> dict[str, Page]:
    try:
        return demo_pages(configuration)
    except WebClientUnavailable as error:
        LOGGER.warning("there is no demo page: %s", error)
        return {}


if __name__ == "__main__":
    main()
