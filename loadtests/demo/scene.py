"""The story: steady traffic; training claims three of four nodes amid it, and gives them back later."""

import asyncio

import aiohttp

from loadtests.demo.account import PROOF_S, ClaimTimes
from loadtests.demo.clock import wall
from loadtests.demo.operators import Operators, claim_times
from loadtests.demo.traffic import send_all
from loadtests.demo.watching import Watching

GRACE_S = 1.5
CLAIMED = 3
OWNER, REASON = "training", "nightly fine-tuning"
WORK_LEFT_S = 2.2
"""Long work that began this recently outlasts the grace."""
ENOUGH_WORK = 4
LATEST_CLAIM_S = 2.0
SHORTEST_HOLD_S = 3.0
HELD_WITHIN_S = GRACE_S + PROOF_S + 10.0


async def play(watching: Watching, session: aiohttp.ClientSession) -> ClaimTimes:
    """Plays it to the last answer; returns the claim as it ended."""
    stage, script = watching.stage, watching.script
    watching.began = wall()
    async with asyncio.TaskGroup() as group:
        group.create_task(send_all(session, stage.replicas, script.orders, watching.deliver))
        claiming = group.create_task(_claim_and_release(watching, Operators(session, stage.replicas[-1])))
    watching.act = "all answered"
    return claiming.result()


async def _claim_and_release(watching: Watching, operators: Operators) -> ClaimTimes:
    """Claims while enough long work runs there, which is the worst moment for it."""
    script, nodes = watching.script, watching.stage.deployment.nodes[:CLAIMED]
    watching.act = "steady traffic"
    await _until(watching, script.claim_at_s)
    await _until_busy(watching, nodes)
    claim = await operators.claim(nodes, OWNER, REASON, GRACE_S)
    watching.act = f"{OWNER} claims {', '.join(nodes)}"
    held_at = await _held(operators, claim["id"])
    if held_at is not None:
        watching.act = f"{OWNER} holds {', '.join(nodes)}"
        await asyncio.sleep(max(0.0, held_at + SHORTEST_HOLD_S - wall()))
    await _until(watching, script.release_at_s)
    released = await operators.release(claim["id"])
    watching.act = "nodes are given back"
    return claim_times(released)


async def _until(watching: Watching, after_s: float) -> None:
    await asyncio.sleep(max(0.0, watching.began + after_s - wall()))


async def _until_busy(watching: Watching, nodes: tuple[str, ...]) -> None:
    latest = wall() + LATEST_CLAIM_S
    while wall() < latest:
        watching.catch_up()
        if watching.running_on(nodes, WORK_LEFT_S) >= ENOUGH_WORK:
            return
        await asyncio.sleep(0.05)


async def _held(operators: Operators, claim_id: str) -> float | None:
    """When it was held; `None` if that took too long."""
    latest = wall() + HELD_WITHIN_S
    while wall() < latest:
        claim = await operators.look_at(claim_id)
        if claim["held_at"] is not None:
            return float(claim["held_at"])
        await asyncio.sleep(0.2)
    return None
