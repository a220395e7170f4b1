from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from streamgauge.gateway.server.admission import Admission
from streamgauge.gateway.server.contract import NotAuthorized


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
def test_passwords_are_checked_when_nobody_else_needs_the_time() -> None:
    seen = list[int]()

    def check() -> None:
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        raise NotAuthorized("wrong")

    async def ask() -> NotAuthorized | None:
        admission, answer = Admission(10), asyncio.get_running_loop().create_future()
        admission.ask(check, answer.set_result)
        try:
            return await asyncio.wait_for(answer, 60)
        finally:
            admission.close()

    refusal = asyncio.run(ask())
    assert seen == [19]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) < 19
    assert refusal is not None
    assert refusal.__traceback__ is None, "it would hold what it is the result of"
