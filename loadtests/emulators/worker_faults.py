"""What each fault of a worker does, one table per moment of a request.

arrival: before the queue. service: while the slot is held. pictures: what was drawn. wire: how the reply
leaves. `die`, `warming` and `backend_failed` act on the whole server at once; they are methods of the
worker.
"""

from dataclasses import dataclass, replace

from loadtests.emulators.delivery import Delivery, cut_after, dripping, lost, whole
from loadtests.emulators.faults import Params, Stage
from loadtests.emulators.refusals import Refused, detail
from loadtests.emulators.spoiled import HTML, not_an_image, truncated, wrong_size

OUT_OF_MEMORY = (
    "CUDA out of memory. Tried to allocate 2.25 GiB. "
    "GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free."
)


@dataclass(frozen=True)
class Service:
    """How one generation will go."""

    slowness: float = 1.0
    hangs: bool = False
    failure: str | None = None
    dies: Params | None = None


@dataclass(frozen=True)
class Wire:
    """How one reply will leave."""

    body: bytes
    status: int = 200
    media_type: str = "application/json"
    delivery: Delivery = whole


ARRIVAL: Stage[Refused | None] = {
    "busy409": lambda _, fault: detail(409, fault.get("detail", "Another request is being processed")),
    "error503": lambda _, fault: detail(503, fault.get("detail", "Service Unavailable")),
}

SERVICE: Stage[Service] = {
    "slow": lambda plan, fault: replace(plan, slowness=plan.slowness * fault.get("factor", 4.0)),
    "hang": lambda plan, _: replace(plan, hangs=True),
    "error500": lambda plan, fault: replace(
        plan, failure=fault.get("detail", "Model generation returned no output.")
    ),
    "oom": lambda plan, _: replace(plan, failure=OUT_OF_MEMORY),
    "die_midway": lambda plan, fault: replace(plan, dies=fault),
}

PICTURES: Stage[tuple[bytes, ...]] = {
    "empty_data": lambda _, __: (),
    "truncated_image": lambda drawn, _: tuple(map(truncated, drawn)),
    "not_an_image": lambda drawn, _: tuple(map(not_an_image, drawn)),
    "wrong_size": lambda drawn, _: tuple(map(wrong_size, drawn)),
}

WIRE: Stage[Wire] = {
    "garbage": lambda wire, _: replace(wire, body=HTML, media_type="text/html"),
    "reply_lost": lambda wire, _: replace(wire, delivery=lost),
    "reset_after_bytes": lambda wire, fault: replace(wire, delivery=cut_after(fault.get("bytes", 1000))),
    "slow_body": lambda wire, fault: replace(
        wire, delivery=dripping(fault.get("piece", 4096), fault.get("pause_s", 0.02))
    ),
}

STAGES = (ARRIVAL, SERVICE, PICTURES, WIRE)
