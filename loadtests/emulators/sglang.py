"""The HTTP surface of an SGLang-Diffusion server in front of one `Worker`.

Source: sglang 0.5.23, multimodal_gen/runtime/entrypoints/http_server.py, openai/image_api.py,
openai/common_api.py. What matters to a router: one queue for everything that touches the model, including
`/stats` and the adapter calls; work goes on after a disconnect; adapters are global; POSTs are held during
warm-up; `response_format` is `url` unless given, and is found impossible only after the picture was made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from loadtests.emulators.attempts import HEADER, read_attempt
from loadtests.emulators.control import control_routes
from loadtests.emulators.image_orders import invalid, read_body, read_order
from loadtests.emulators.image_replies import failure_reply, openai_reply
from loadtests.emulators.refusals import Refused, answer_refusal, detail
from loadtests.emulators.worker import Failed, Worker

VERSION = "0.5.23"
NOT_DISAGGREGATED = {"role": "monolithic", "message": "not in disagg mode"}


def sglang_app(worker: Worker) -> Starlette:
    images, adapters, facts = _Images(worker), _Adapters(worker), _Facts(worker)
    return Starlette(
        routes=[
            Route("/v1/images/generations", images.generate, methods=["POST"]),
            Route("/v1/set_lora", adapters.set_lora, methods=["POST"]),
            Route("/v1/merge_lora_weights", adapters.merge, methods=["POST"]),
            Route("/v1/unmerge_lora_weights", adapters.unmerge, methods=["POST"]),
            Route("/v1/list_loras", adapters.list_loras),
            Route("/stats", facts.stats),
            Route("/health", facts.health),
            Route("/health_generate", facts.health),
            Route("/liveness", facts.liveness),
            Route("/server_info", facts.server_info),
            Route("/model_info", facts.model_info),
            Route("/v1/model_info", facts.model_info),
            Route("/v1/models", facts.models),
            Route("/v1/models/{model:path}", facts.model),
            *control_routes(worker.name, worker.faults, worker.ledger, worker.state),
        ],
        exception_handlers={Refused: answer_refusal},
    )


@dataclass(frozen=True)
class _Images:
    worker: Worker

    async def generate(self, request: Request) -> Response:
        body = await read_body(request)
        order = read_order(
            body, default_steps=self.worker.settings.default_steps, default_response_format="url"
        )
        generation = self.worker.receive(order, read_attempt(request.headers.get(HEADER)))
        ticket = await self.worker.enqueue(generation)
        outcome = await ticket.wait()
        if outcome is None:
            return _nobody()
        if isinstance(outcome, Failed):
            return failure_reply(self.worker, generation, 500, outcome.reason)
        if order.response_format == "url":
            reason = "response_format='url' requires cloud storage to be configured."
            return failure_reply(self.worker, generation, 400, reason)
        if order.response_format != "b64_json":
            reason = f"response_format={order.response_format} is not supported"
            return failure_reply(self.worker, generation, 400, reason)
        return openai_reply(self.worker, generation, outcome)


@dataclass(frozen=True)
class _Adapters:
    """The server-global adapters. Every call waits its turn in the queue."""

    worker: Worker

    async def set_lora(self, request: Request) -> Response:
        body = await read_body(request)
        if "lora_nickname" not in body:
            raise invalid("lora_nickname", "Field required", "missing")
        name = str(body["lora_nickname"])
        known = self.worker.life.loras.get(name, {})
        path = body.get("lora_path") or known.get("path")
        if path is None:
            raise detail(500, f"Failed to set LoRA adapter: {name} is not loaded and no lora_path was given")
        adapter = {
            "path": path,
            "target": body.get("target", "all"),
            "strength": body.get("strength", 1.0),
            "merge_mode": body.get("merge_mode"),
        }
        return await self._in_turn(
            partial(self._activate, name, adapter), f"Successfully set LoRA adapter(s): {name}"
        )

    async def merge(self, request: Request) -> Response:
        await read_body(request)
        return await self._in_turn(partial(self._mark, merged=True), "Successfully merged LoRA weights")

    async def unmerge(self, request: Request) -> Response:
        await read_body(request)
        return await self._in_turn(partial(self._mark, merged=False), "Successfully unmerged LoRA weights")

    async def list_loras(self, _request: Request) -> Response:
        await _turn(self.worker, lambda: None)
        loras = self.worker.life.loras
        loaded = [{"nickname": name, "path": adapter["path"]} for name, adapter in loras.items()]
        active = [{"nickname": name, **adapter} for name, adapter in loras.items() if adapter["merged"]]
        return JSONResponse({"loaded_adapters": loaded, "active": {"transformer": active}})

    async def _in_turn(self, change: Callable[[], None], message: str) -> Response:
        await _turn(self.worker, change)
        return JSONResponse({"status": "ok", "message": message})

    def _activate(self, name: str, adapter: dict[str, Any]) -> None:
        """One adapter at a time: setting one replaces the active one."""
        self._mark(merged=False)
        self.worker.life.loras[name] = {**adapter, "merged": True}
        self.worker.ledger.add("lora_set", self.worker.name, lora=name)

    def _mark(self, merged: bool) -> None:
        for adapter in self.worker.life.loras.values():
            adapter["merged"] = merged


@dataclass(frozen=True)
class _Facts:
    worker: Worker

    async def stats(self, _request: Request) -> Response:
        """Answered when all that was received before has ended: the proof that abandoned work is over."""
        await self.worker.life.until_warm()
        await self.worker.life.queue.barrier()
        self._fail_if_broken()
        model = self.worker.settings.model
        return JSONResponse({"status": "ok", "model_path": model, "disagg": NOT_DISAGGREGATED})

    async def health(self, _request: Request) -> Response:
        life = self.worker.life
        if life.broken:
            return JSONResponse({"status": "unhealthy", "error": life.broken}, 503)
        if not life.warm:
            return JSONResponse({"status": "warming up"}, 503)
        return JSONResponse({"status": "ok"})

    async def liveness(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def server_info(self, _request: Request) -> Response:
        model = self.worker.settings.model
        facts = {
            "model_path": model,
            "served_model_name": model,
            "tp_size": 1,
            "dp_size": 1,
            "version": VERSION,
        }
        return JSONResponse(facts)

    async def model_info(self, _request: Request) -> Response:
        return JSONResponse({"model_path": self.worker.settings.model})

    async def models(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [model_card(self.worker, "sglang")]})

    async def model(self, request: Request) -> Response:
        wanted = request.path_params["model"]
        if wanted == self.worker.settings.model:
            return JSONResponse(model_card(self.worker, "sglang"))
        error = {"message": f"The model '{wanted}' does not exist", "type": "invalid_request_error"}
        return JSONResponse({"error": {**error, "param": "model", "code": "model_not_found"}}, 404)

    def _fail_if_broken(self) -> None:
        if self.worker.life.broken:
            raise detail(503, f"Backend failed: {self.worker.life.broken}")


def model_card(worker: Worker, owner: str) -> dict[str, Any]:
    model = worker.settings.model
    return {
        "id": model,
        "object": "model",
        "created": 1764000000,
        "owned_by": owner,
        "root": model,
        "task_type": "T2I",
    }


async def _turn(worker: Worker, change: Callable[[], None]) -> None:
    """Wait for a slot like any generation, then change something."""

    async def work() -> None:
        change()

    life = worker.life
    await life.until_warm()
    if life.broken:
        raise detail(503, f"Backend failed: {life.broken}")
    await life.queue.put(work).wait()


def _nobody() -> Response:
    """For a handler whose server died under it: its connection is gone, so nothing of this is sent."""
    return Response(status_code=500)
