"""GETs with up to three tries. A GET is safe to repeat; nothing else here is repeated."""

from __future__ import annotations

from collections.abc import Callable

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_after_attempt,
    wait_exponential_jitter,
)

from providers.contract import Failed, Fault
from providers.http import Http, Reply, Request

TRIES = 3


async def get_patiently(
    http: Http, request: Callable[[], Request | None], is_final: Callable[[Reply], bool]
) -> Reply | Failed | None:
    """GET up to three times until the reply is final. `request()` is `None` when time is up."""

    async def once() -> Reply | Failed | None:
        asked = request()
        return None if asked is None else await http.send(asked)

    def is_passing(answer: Reply | Failed | None) -> bool:
        if isinstance(answer, Failed):  # too large, a redirect: the same again
            return answer.fault is not Fault.UNUSABLE
        return answer is not None and not is_final(answer)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(TRIES),
        wait=wait_exponential_jitter(multiplier=0.1, max=1.0, jitter=0.1),
        retry=retry_if_result(is_passing),
        retry_error_callback=_last,
    )
    return await retrying(once)


def _last(state: RetryCallState) -> Reply | Failed | None:
    assert state.outcome is not None
    answer: Reply | Failed | None = state.outcome.result()
    return answer
