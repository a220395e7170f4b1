"""`streamgauge gateway`: Kafka to live clients, until it is told to stop."""

from __future__ import annotations

import getpass
import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from streamgauge.cli.options import Debug, Quiet
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import wish

_LIMITS = "Limits"
_SERVER = "Server"
_USERS = "Users"


@told_by(
    "streamgauge gateway --config adapters.xml --port 8080",
    "streamgauge gateway --config gateway.yaml --check",
    "streamgauge gateway --hash-password alice >> users.txt",
)
def gateway_command(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="adapters.xml or gateway.yaml (docs/gateway.md).", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Where to listen.", show_default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port; 0: any free one.", min=0, max=65_535, show_default="8080"),
    ] = None,
    monitoring_host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Where /healthz and /metrics are.", show_default="127.0.0.1"),
    ] = None,
    monitoring_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port; 0: any free one.", min=0, max=65_535, show_default="0"),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            metavar="COUNT", help="How many processes share the port and the clients.", min=1, max=64
        ),
    ] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Only check whether the configuration is correct and safe.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="Serve the demo page.")] = True,
    lightstreamer_conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take diff order, patch length and delay from a lightstreamer_conf.xml.",
            show_default=False,
            rich_help_panel=_SERVER,
        ),
    ] = None,
    default_diff_order: Annotated[
        str | None, wish("jsonpatch, diff_match_patch, or both.", metavar="NAME,…", rich_help_panel=_SERVER)
    ] = None,
    jsonpatch_min_length: Annotated[
        str | None,
        wish(
            "Try a patch for values of at least this many bytes; none: always.",
            metavar="BYTES",
            rich_help_panel=_SERVER,
        ),
    ] = None,
    max_delay_millis: Annotated[
        int | None,
        wish("How long updates may wait to share a frame, in ms.", metavar="MS", rich_help_panel=_SERVER),
    ] = None,
    allowed_origin: Annotated[
        list[str] | None,
        wish("Origin of web pages that may connect. Repeatable.", metavar="URL", rich_help_panel=_SERVER),
    ] = None,
    tls_certificate: Annotated[
        Path | None,
        wish("The server's certificate, for https and wss.", metavar="PEM", rich_help_panel=_SERVER),
    ] = None,
    tls_key: Annotated[Path | None, wish("Its private key.", metavar="PEM", rich_help_panel=_SERVER)] = None,
    max_sessions: Annotated[
        str | None, wish("Sessions per process, or unlimited.", metavar="COUNT", rich_help_panel=_LIMITS)
    ] = None,
    max_sessions_per_address: Annotated[
        str | None, wish("Sessions from one address, or unlimited.", metavar="COUNT", rich_help_panel=_LIMITS)
    ] = None,
    max_subscriptions: Annotated[
        str | None, wish("Subscriptions per session, or unlimited.", metavar="COUNT", rich_help_panel=_LIMITS)
    ] = None,
    max_request_bytes: Annotated[
        str | None, wish("Largest request: 50000, 64KiB.", metavar="BYTES", rich_help_panel=_LIMITS)
    ] = None,
    max_request_rate: Annotated[
        str | None, wish("Requests per connection: 500/s.", metavar="RATE", rich_help_panel=_LIMITS)
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of who may connect, with password hashes.",
            show_default=False,
            rich_help_panel=_USERS,
        ),
    ] = None,
    hash_password: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Print a line for that file.", show_default=False, rich_help_panel=_USERS
        ),
    ] = None,
    hash_token: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The same for a token.", show_default=False, rich_help_panel=_USERS
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Push Kafka's records to live clients: Lightstreamer's own, over WebSocket or HTTP."""
    if hash_password is not None or hash_token is not None:
        _print_user(hash_password, hash_token)
        return
    if config is None:
        raise BadInput(
            "--config is required: adapters.xml or gateway.yaml; docs/gateway.md has an example of each"
        )
    flags: dict[str, Any] = {
        "host": host,
        "port": port,
        "monitoring_host": monitoring_host,
        "monitoring_port": monitoring_port,
        "default_diff_order": _words(default_diff_order),
        "jsonpatch_min_length": jsonpatch_min_length,
        "max_delay_millis": max_delay_millis,
        "allowed_origins": allowed_origin or None,
        "tls_certificate": tls_certificate,
        "tls_key": tls_key,
        "users": users,
    }
    limits: dict[str, Any] = {
        "sessions": max_sessions,
        "sessions_per_address": max_sessions_per_address,
        "subscriptions_per_session": max_subscriptions,
        "request_bytes": max_request_bytes,
        "requests_per_s": max_request_rate,
    }
    _serve(
        config,
        lightstreamer_conf,
        flags,
        limits,
        processes=processes,
        check=check,
        demo=demo,
        quiet=quiet,
        debug=debug,
    )


def _serve(
    config: Path,
    lightstreamer_conf: Path | None,
    flags: dict[str, Any],
    limits: dict[str, Any],
    *,
    processes: int,
    check: bool,
    demo: bool,
    quiet: bool,
    debug: bool,
) -> None:
    _needs_the_extra()
    from streamgauge.gateway.connector.adapter_sets import make_adapter_set
    from streamgauge.gateway.connector.configuration import load_configuration
    from streamgauge.gateway.connector.lightstreamer_conf import read_lightstreamer_conf
    from streamgauge.gateway.server.gateway_process import log_to_stderr, run_gateway, with_settings
    from streamgauge.gateway.server.safety import UnsafeSettings, unsafe_settings
    from streamgauge.gateway.server.serving import Addresses

    configuration = load_configuration(config)
    if lightstreamer_conf is not None:
        of_conf: dict[str, Any] = dict(read_lightstreamer_conf(lightstreamer_conf))
        of_conf["default_diff_order"] = _words(of_conf.get("default_diff_order"))
        configuration = with_settings(configuration, of_conf, {})
    configuration = with_settings(configuration, flags, limits)
    if check:
        make_adapter_set(configuration)
        typer.echo(f"{config}: is right: {_summary(configuration)}")
        if findings := unsafe_settings(configuration):
            raise UnsafeSettings(findings)
        return
    log_to_stderr(logging.ERROR if quiet else logging.DEBUG if debug else logging.WARNING)

    def ready(addresses: Addresses) -> None:
        typer.echo(addresses.clients)
        if not quiet:
            typer.echo(f"monitored at {addresses.monitoring} (/healthz, /metrics)", err=True)
            page = "; open it in a browser for the demo page" if demo else ""
            typer.echo(f"serving {_summary(configuration)}{page}; end it with Ctrl-C", err=True)

    run_gateway(configuration, processes=processes, demo=demo, ready=ready)


def _summary(configuration: Any) -> str:
    count = len(configuration.connections)
    names = ", ".join(configuration.connections)
    return f"adapter set {configuration.adapter_set}, {count} connection{'s' if count > 1 else ''} ({names})"


def _print_user(password_of: str | None, token_of: str | None) -> None:
    """The secret comes from a terminal, unseen, or from a pipe; never from the command line."""
    from streamgauge.gateway.server.authentication import user_line

    name, is_token = (password_of, False) if password_of is not None else (token_of or "", True)
    what = "Token" if is_token else "Password"
    secret = getpass.getpass(f"{what}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    typer.echo(user_line(name, secret, is_token=is_token))


def _words(text: str | None) -> list[str] | None:
    return [word.strip() for word in text.split(",") if word.strip()] if text is not None else None


def _needs_the_extra() -> None:
    import importlib.util

    for package in (
        "h11",
        "picows",
        "uvloop",
        "orjson",
        "fastavro",
        "google.protobuf",
        "cryptography",
        "fastjsonschema",
    ):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise BadInput(
                f"the gateway needs {package}; install it with: pip install 'streamgauge[gateway]'"
            )
