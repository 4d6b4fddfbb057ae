"""The HTTP surface of a vLLM-Omni server in front of one `Worker`.

Source: vllm-omni 0.30.0, entrypoints/openai. What differs from SGLang: a client that leaves cancels its
generation and frees the slot; adapters come with the request; another model's name is refused; only
`b64_json` is a format here. There is no `/stats` barrier; the gauges of `/metrics` tell what runs and what
waits.
"""

from dataclasses import dataclass

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from loadtests.emulators.attempts import HEADER, read_attempt
from loadtests.emulators.control import control_routes
from loadtests.emulators.delivery import until_gone
from loadtests.emulators.fifo import Ticket
from loadtests.emulators.image_orders import ImageOrder, read_body, read_order
from loadtests.emulators.image_replies import failure_reply, openai_reply
from loadtests.emulators.refusals import Refused, answer_refusal, detail
from loadtests.emulators.sglang import model_card
from loadtests.emulators.worker import Failed, Generation, Outcome, Worker

GAUGES = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{model_name="{model}"}} {running}
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{model_name="{model}"}} {waiting}
"""


def vllm_omni_app(worker: Worker) -> Starlette:
    server = _Server(worker)
    return Starlette(
        routes=[
            Route("/v1/images/generations", server.generate, methods=["POST"]),
            Route("/v1/models", server.models),
            Route("/health", server.health),
            Route("/metrics", server.metrics),
            *control_routes(worker.name, worker.faults, worker.ledger, worker.state),
        ],
        exception_handlers={Refused: answer_refusal},
    )


@dataclass(frozen=True)
class _Server:
    worker: Worker

    async def generate(self, request: Request) -> Response:
        body = await read_body(request)
        order = read_order(
            {"output_format": "png", **body},
            default_steps=self.worker.settings.default_steps,
            default_response_format="b64_json",
        )
        self._check(order)
        generation = self.worker.receive(order, read_attempt(request.headers.get(HEADER)))
        ticket = await self.worker.enqueue(generation)
        outcome = await self._outcome_or_cancel(request, generation, ticket)
        if outcome is None:
            return Response(status_code=499)
        if isinstance(outcome, Failed):
            return failure_reply(self.worker, generation, 500, outcome.reason)
        return openai_reply(self.worker, generation, outcome)

    async def models(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [model_card(self.worker, "vllm-omni")]})

    async def health(self, _request: Request) -> Response:
        life = self.worker.life
        return Response(status_code=200 if life.warm and not life.broken else 503)

    async def metrics(self, _request: Request) -> Response:
        queue = self.worker.life.queue
        text = GAUGES.format(model=self.worker.settings.model, running=queue.running, waiting=queue.waiting)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    def _check(self, order: ImageOrder) -> None:
        model = self.worker.settings.model
        if order.model is not None and order.model != model:
            raise detail(
                400, f"Model mismatch: request specifies '{order.model}' but server is running '{model}'."
            )
        if order.response_format != "b64_json":
            raise detail(400, f"response_format '{order.response_format}' is not supported; use 'b64_json'.")

    async def _outcome_or_cancel(
        self, request: Request, generation: Generation, ticket: Ticket[Outcome | None]
    ) -> Outcome | None:
        async def cancel_when_gone() -> None:
            await until_gone(request.receive)
            self.worker.cancel(generation, ticket)

        async with anyio.create_task_group() as both:
            both.start_soon(cancel_when_gone)
            outcome = await ticket.wait()
            both.cancel_scope.cancel()
        return outcome
