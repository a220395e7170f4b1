from __future__ import annotations

import ssl

from streamgauge.core.run_identity import agent_context, launcher_context, make_identity


def test_both_sides_ask_for_the_other_ones_certificate_and_for_tls_1_3() -> None:
    identity = make_identity()
    for context in (agent_context(identity), launcher_context(identity)):
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.minimum_version is ssl.TLSVersion.TLSv1_3
        assert len(context.get_ca_certs()) <= 1  # the run's own, and none of the system's


def test_no_run_has_another_ones() -> None:
    assert make_identity() != make_identity()
