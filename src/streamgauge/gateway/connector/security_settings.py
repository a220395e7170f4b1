"""TLS, SASL and the schema registry: parameters of a connection that have a prefix of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from streamgauge.gateway.connector.parameters import Flag, Names, Secret, Text
from streamgauge.spec.model import SpecModel

StoreType = Literal["JKS", "PKCS12", "PEM"]
Protocol = Literal["TLSv1.2", "TLSv1.3"]
PROTOCOLS: tuple[Protocol, ...] = ("TLSv1.2", "TLSv1.3")
SCRAM_AND_PLAIN = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class TlsSettings(SpecModel):
    """Whom to trust, and who we are. Stores may be JKS, PKCS12 or PEM: what a file is shows in its bytes."""

    protocol: Protocol = Field(default="TLSv1.3", description="Preferred version.")
    enabled_protocols: Names = Field(
        default=PROTOCOLS, alias="enabled.protocols", description="Versions allowed."
    )
    cipher_suites: Names | None = Field(
        default=None,
        alias="cipher.suites",
        description="Cipher suites allowed, by Java's or OpenSSL's names.",
    )
    truststore_path: Path | None = Field(
        default=None, alias="truststore.path", description="Certificates to trust; by default the system's."
    )
    truststore_password: Secret | None = Field(
        default=None, alias="truststore.password", description="Its password."
    )
    truststore_type: StoreType = Field(default="JKS", alias="truststore.type", description="Its format.")
    hostname_verification: Flag = Field(
        default=False,
        alias="hostname.verification.enable",
        description="Whether the host name must match the certificate.",
    )
    keystore_enable: Flag = Field(
        default=False, alias="keystore.enable", description="Whether to present a client certificate."
    )
    keystore_path: Path | None = Field(
        default=None,
        alias="keystore.path",
        description="The client certificate and key; required with `keystore.enable`.",
    )
    keystore_password: Secret | None = Field(
        default=None, alias="keystore.password", description="Its password."
    )
    keystore_type: StoreType = Field(default="JKS", alias="keystore.type", description="Its format.")
    key_password: Secret | None = Field(
        default=None, alias="keystore.key.password", description="The key's password; by default the store's."
    )

    @field_validator("enabled_protocols")
    @classmethod
    def _known(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for protocol in given:
            if protocol not in PROTOCOLS:
                raise ValueError(f"{protocol!r} is not allowed; allowed: {', '.join(PROTOCOLS)}")
        return given

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.keystore_enable and self.keystore_path is None:
            raise ValueError("keystore.path: is required with keystore.enable")
        return self


class EncryptionSettings(TlsSettings):
    """TLS to Kafka."""

    enable: Flag = Field(default=False, description="Whether to use TLS with Kafka.")


class AuthenticationSettings(SpecModel):
    """SASL to Kafka."""

    enable: Flag = Field(default=False, description="Whether to log in to Kafka.")
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"] = Field(
        default="PLAIN", description="SASL mechanism. AWS_MSK_IAM is not supported."
    )
    username: Text | None = Field(default=None, description="For PLAIN and SCRAM.")
    password: Secret | None = Field(default=None, description="For PLAIN and SCRAM.")
    service_name: Text | None = Field(
        default=None,
        alias="gssapi.kerberos.service.name",
        description="For GSSAPI: Kafka's Kerberos service name.",
    )
    key_tab_enable: Flag = Field(
        default=False, alias="gssapi.key.tab.enable", description="For GSSAPI: whether to use a keytab."
    )
    key_tab_path: Path | None = Field(default=None, alias="gssapi.key.tab.path", description="The keytab.")
    store_key_enable: Flag = Field(
        default=False,
        alias="gssapi.store.key.enable",
        description="Accepted, but has no effect: there is no JVM to keep the key.",
    )
    principal: Text | None = Field(
        default=None, alias="gssapi.principal", description="Our Kerberos principal."
    )
    ticket_cache_enable: Flag = Field(
        default=False,
        alias="gssapi.ticket.cache.enable",
        description="Whether to use the ticket cache.",
    )

    @field_validator("mechanism", mode="before")
    @classmethod
    def _old_names(cls, given: Any) -> Any:
        return {"SCRAM-256": "SCRAM-SHA-256", "SCRAM-512": "SCRAM-SHA-512"}.get(given, given)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.enable:
            return self
        if self.mechanism in SCRAM_AND_PLAIN:
            if self.username is None or self.password is None:
                raise ValueError(f"mechanism: {self.mechanism} needs username and password")
            return self
        if self.service_name is None:
            raise ValueError("mechanism: GSSAPI needs gssapi.kerberos.service.name")
        if not self.ticket_cache_enable and self.principal is None:
            raise ValueError("mechanism: GSSAPI needs gssapi.principal, or gssapi.ticket.cache.enable")
        if self.key_tab_enable and self.key_tab_path is None:
            raise ValueError("gssapi.key.tab.path: is required with gssapi.key.tab.enable")
        return self


class RegistrySettings(SpecModel):
    """Confluent's Schema Registry."""

    provider: Literal["CONFLUENT"] = Field(
        default="CONFLUENT", description="Which registry. AZURE is not supported."
    )
    url: Text | None = Field(default=None, description="Its http:// or https:// address.")
    basic_enable: Flag = Field(
        default=False,
        alias="confluent.basic.authentication.enable",
        description="Whether to log in to the registry.",
    )
    basic_username: Text | None = Field(
        default=None, alias="confluent.basic.authentication.username", description="Required to log in."
    )
    basic_password: Secret | None = Field(
        default=None, alias="confluent.basic.authentication.password", description="Required to log in."
    )
    encryption: TlsSettings = Field(default=TlsSettings(), alias="confluent.encryption")

    @field_validator("url")
    @classmethod
    def _web_address(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError(f"must begin with http:// or https://, not {url!r}")
        return url

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.basic_enable and (self.basic_username is None or self.basic_password is None):
            raise ValueError(
                "confluent.basic.authentication.enable: needs "
                "confluent.basic.authentication.username and .password"
            )
        return self
