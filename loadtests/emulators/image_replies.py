"""The replies of `POST /v1/images/generations`, and the rows about whether the client got them."""

import base64
import json
import time
from typing import Any

from loadtests.emulators.delivery import Reply
from loadtests.emulators.worker import Generation, Made, Worker
from loadtests.emulators.worker_faults import WIRE, Wire


def openai_reply(worker: Worker, generation: Generation, made: Made) -> Reply:
    prompt = generation.order.prompt
    data = [
        {"b64_json": base64.b64encode(picture).decode(), "revised_prompt": prompt, "file_path": None}
        for picture in made.pictures
    ]
    body = {
        "id": generation.id,
        "created": int(time.time()),  # noqa: TID251 - the wire format wants a unix time
        "data": data,
        "peak_memory_mb": 33792.0,
        "inference_time_s": round(made.seconds, 4),
        "usage": None,
    }
    return _reply(worker, generation, body, 200)


def failure_reply(worker: Worker, generation: Generation, status: int, reason: str) -> Reply:
    return _reply(worker, generation, {"detail": reason}, status)


def _reply(worker: Worker, generation: Generation, body: dict[str, Any], status: int) -> Reply:
    wire = worker.faults.apply(WIRE, generation.order.prompt, Wire(json.dumps(body).encode(), status))

    def ended(delivered: bool) -> None:
        worker.note("delivered" if delivered else "undelivered", generation, status=wire.status)

    return Reply(
        wire.body,
        reset=worker.host.reset,
        ended=ended,
        status=wire.status,
        media_type=wire.media_type,
        delivery=wire.delivery,
    )
