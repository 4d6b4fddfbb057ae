"""One server that speaks the OpenAI images dialect. The on-prem hot path: one POST, one reply, no handle."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping

from providers.contract import Call, Cancelled, Capabilities, Ended, Event, Failed, Fault, Health
from providers.http import Http, Request
from providers.openai_images.probe import probe
from providers.openai_images.settings import Settings
from providers.openai_images.verdict import judge
from providers.openai_images.wire import PATH, request_body, request_headers


class OpenAIImages:
    """A `Provider`. It can neither resume nor cancel; vLLM-Omni cancels when the connection is dropped."""

    def __init__(
        self,
        settings: Settings,
        http: Http,
        base_url: str,
        credential: str | None,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._credential = credential
        self._clock = clock
        self._capabilities = settings.capabilities()

    @property
    def capabilities(self) -> Capabilities:
        """What this server honours."""
        return self._capabilities

    async def start(self, call: Call) -> AsyncGenerator[Event, None]:
        """One event: the outcome."""
        refused = self._capabilities.refuses(call.generation) or self._unnamed_lora(call)
        if refused is not None:  # the router asks `capabilities` first; nothing is dropped silently
            yield Failed(Fault.NOT_SENT, "unsupported_parameter", refused)
            return
        reply = await self._http.send(
            Request(
                "POST",
                self._base_url + PATH,
                call.budget_s,
                request_headers(call, self._credential),
                request_body(call, self._settings),
                call.send_by,
            )
        )
        yield reply if isinstance(reply, Failed) else judge(reply, call)

    async def resume(self, handle: Mapping[str, str], call: Call) -> AsyncGenerator[Event, None]:
        """The reply of a lost connection cannot be had again."""
        yield Failed(Fault.AMBIGUOUS, "cannot_resume", ended=Ended.UNKNOWN)

    async def cancel(self, handle: Mapping[str, str]) -> Cancelled:
        """Neither SGLang-Diffusion nor vLLM-Omni has a call for it."""
        return Cancelled.UNSUPPORTED

    async def health(self, patience_s: float) -> Health:
        """See `probe`."""
        return await probe(
            self._http, self._base_url, self._settings, self._credential, patience_s, self._clock
        )

    def _unnamed_lora(self, call: Call) -> str | None:
        if self._settings.loras != "request":
            return None
        return next((lora.name for lora in call.generation.loras if lora.name not in call.loras), None)
