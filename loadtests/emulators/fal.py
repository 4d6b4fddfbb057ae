"""The HTTP surface of the fal queue in front of one `FalEngine`.

Source: docs.fal.ai (queue API, common parameters, request errors); fal-client 1.0.3. Only the queue is
served: direct calls have the same path with another meaning and live on another host. Status, result and
cancel URLs know only `owner/alias` of the app, so a caller has to follow the URLs of the receipt.
"""

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from loadtests.emulators.attempts import HEADER, read_attempt
from loadtests.emulators.control import control_routes
from loadtests.emulators.delivery import until_gone
from loadtests.emulators.fal_engine import FalEngine
from loadtests.emulators.fal_faults import MEDIA, REFUSALS, RESULT, STATUS, SUBMISSION, Page
from loadtests.emulators.fal_orders import Input, prompt_of
from loadtests.emulators.fal_requests import COMPLETED, FalRequest, Wishes
from loadtests.emulators.refusals import Refused, answer_refusal
from loadtests.emulators.serving import Host

CANCEL_STATUS = {"OK": 200, "CANCELLATION_REQUESTED": 202, "ALREADY_COMPLETED": 400}


def fal_app(engine: FalEngine, host: Host) -> Starlette:
    queue = _Queue(engine, host)
    one = "/{owner}/{alias}/requests/{id}"
    return Starlette(
        routes=[
            *control_routes(engine.settings.name, engine.faults, engine.ledger, engine.state),
            Route("/files/{folder}/{name}", queue.file),
            Route(one + "/status/stream", queue.stream),
            Route(one + "/status", queue.status),
            Route(one + "/cancel", queue.cancel, methods=["PUT"]),
            Route(one, queue.result),
            Route("/{app:path}", queue.submit, methods=["POST"]),
        ],
        exception_handlers={Refused: answer_refusal},
    )


@dataclass(frozen=True)
class _Queue:
    engine: FalEngine
    host: Host

    async def submit(self, request: Request) -> Response:
        self._check_key(request)
        app = self.engine.app(request.path_params["app"])
        if app is None:
            raise Refused(
                404, {"detail": f"Application {request.path_params['app']!r} not found"}, _fresh_id()
            )
        body = await _input(request)
        self._refuse(prompt_of(body), "submit", _fresh_id())
        base_url = str(request.base_url).rstrip("/")
        attempt = read_attempt(request.headers.get(HEADER))
        queued = FalRequest(app, body, attempt, _wishes(request), base_url)
        self.engine.submit(queued)
        if self.engine.faults.apply(SUBMISSION, queued.prompt, False):
            self.host.reset(request.scope)
            await until_gone(request.receive)
        return JSONResponse(queued.receipt(self.engine.position(queued)), headers=_named(queued))

    async def status(self, request: Request) -> Response:
        queued = self._find(request, "status")
        shown = self._shown(request, queued)
        page = Page(200 if queued.status == COMPLETED else 202, json.dumps(shown))
        return _answer(self.engine.faults.apply(STATUS, queued.prompt, page), _named(queued))

    async def stream(self, request: Request) -> Response:
        """The status objects as server-sent events, one for each change, ending at COMPLETED."""
        queued = self._find(request, "status")

        async def events() -> AsyncIterator[str]:
            while queued.status != COMPLETED:
                yield f"data: {json.dumps(self._shown(request, queued))}\n\n"
                await queued.change()
            yield f"data: {json.dumps(self._shown(request, queued))}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream", headers=_named(queued))

    async def result(self, request: Request) -> Response:
        queued = self._find(request, "result")
        if queued.status != COMPLETED:
            raise Refused(400, {"detail": "Request is still in progress"}, _named(queued))
        failure = queued.failure
        if failure is not None:
            return JSONResponse(failure.body, failure.status, {**_named(queued), **dict(failure.headers)})
        page = self.engine.faults.apply(RESULT, queued.prompt, Page(200, json.dumps(queued.result)))
        return _answer(page, {**_named(queued), "x-fal-billable-units": f"{queued.units:g}"})

    async def cancel(self, request: Request) -> Response:
        queued = self._find(request, "cancel", missing={"status": "NOT_FOUND"})
        answer = await self.engine.cancel(queued)
        return JSONResponse({"status": answer}, CANCEL_STATUS[answer], _named(queued))

    async def file(self, request: Request) -> Response:
        file = self.engine.media.get(request.url.path)
        if file is None:
            return Response("Not Found", 404)
        page = self.engine.faults.apply(MEDIA, file.prompt, None)
        if page is not None:
            return _answer(page, {})
        return Response(file.content, media_type=file.content_type)

    def _shown(self, request: Request, queued: FalRequest) -> dict[str, Any]:
        with_logs = request.query_params.get("logs", "false").lower() in {"1", "true"}
        return queued.shown(self.engine.position(queued), with_logs)

    def _find(self, request: Request, endpoint: str, missing: dict[str, str] | None = None) -> FalRequest:
        self._check_key(request)
        path = request.path_params
        queued = self.engine.find(f"{path['owner']}/{path['alias']}", path["id"])
        if queued is None:
            raise Refused(404, missing or {"detail": "Request not found"}, {"x-fal-request-id": path["id"]})
        self._refuse(queued.prompt, endpoint, _named(queued))
        return queued

    def _check_key(self, request: Request) -> None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        known = self.engine.settings.keys
        if scheme != "Key" or not key or (known is not None and key not in known):
            detail = "Cannot access application. Authentication is required to access this application."
            raise Refused(401, {"detail": detail}, _fresh_id())

    def _refuse(self, prompt: str, endpoint: str, headers: dict[str, str]) -> None:
        refusal = self.engine.faults.apply(REFUSALS, prompt, None, at=endpoint)
        if refusal is not None:
            raise Refused(refusal.status, refusal.body, {**headers, **refusal.headers})


async def _input(request: Request) -> Input:
    try:
        body = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise Refused(422, {"detail": "Invalid JSON body"}, _fresh_id())
    return body


def _wishes(request: Request) -> Wishes:
    headers = request.headers
    try:
        timeout = headers.get("x-fal-request-timeout")
        lifecycle = json.loads(headers.get("x-fal-object-lifecycle-preference", "{}"))
        start_timeout_s = None if timeout is None else float(timeout)
        lifetime = lifecycle.get("expiration_duration_seconds")
    except (ValueError, AttributeError):
        raise Refused(400, {"detail": "Malformed header", "error_type": "bad_request"}, _fresh_id()) from None
    no_retry = headers.get("x-fal-no-retry", "").lower() in {"1", "true", "yes"}
    return Wishes(start_timeout_s, no_retry, lifetime)


def _answer(page: Page, headers: dict[str, str]) -> Response:
    return Response(page.text, page.status, headers, page.media_type)


def _named(queued: FalRequest) -> dict[str, str]:
    return {"x-fal-request-id": queued.id}


def _fresh_id() -> dict[str, str]:
    return {"x-fal-request-id": str(uuid.uuid4())}
