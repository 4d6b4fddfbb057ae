"""The client: sends every order at its moment, whether or not earlier ones were answered, and only once."""

import asyncio
from collections.abc import Callable, Sequence

import aiohttp

from loadtests.demo.clock import wall
from loadtests.demo.receipt import Receipt, read
from loadtests.demo.script import SIZE, Order

KEY = "spk_demogenerate_public-demo-key-never-a-secret-for-images-0"
"""Public: its hash stands in config/demo.yaml, which fits no production."""
PATIENCE_S = 150.0
"""Longer than the longest deadline of a class, so that it is the router who gives up first."""

Deliver = Callable[[Order, Receipt, bytes | None], None]


async def send_all(
    session: aiohttp.ClientSession, replicas: Sequence[str], orders: Sequence[Order], deliver: Deliver
) -> None:
    """Return when every order has been answered; `deliver` is told of each answer as it comes."""
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for order in orders:
            await asyncio.sleep(began + order.at_s - asyncio.get_running_loop().time())
            group.create_task(_send(session, replicas[order.replica], order, deliver))


async def _send(session: aiohttp.ClientSession, replica: str, order: Order, deliver: Deliver) -> None:
    sent_at = wall()
    try:
        async with session.post(
            f"{replica}/v1/images/generations",
            json=body_of(order),
            headers={"Authorization": f"Bearer {KEY}", "Spillover-Class": order.request_class},
            timeout=aiohttp.ClientTimeout(total=PATIENCE_S),
        ) as reply:
            body = await reply.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        fault = f"no answer: {type(error).__name__}"
        deliver(order, Receipt(order.number, order.request_class, sent_at, wall(), fault=fault), None)
        return
    headers = {name.lower(): value for name, value in reply.headers.items()}
    deliver(order, *read(order, sent_at, wall(), reply.status, headers, body))


def body_of(order: Order) -> dict[str, object]:
    """The body that the OpenAI SDK would send, with the router's extensions at the top level."""
    return {
        "prompt": order.prompt,
        "size": f"{SIZE}x{SIZE}",
        "n": 1,
        "seed": order.seed,
        "steps": order.steps,
        "output_format": "png",
    }
