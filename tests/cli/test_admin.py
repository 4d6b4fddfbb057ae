"""`spillover claim | release | claims | flags | state` as processes, against a whole replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.api.deployment import ADMIN, CLIENT, House, back_ends, document, house
from tests.cli.command import Ran, spillover


@pytest.fixture(scope="module")
async def running() -> AsyncIterator[House]:
    async with (
        back_ends() as (fleet, fal),
        house(document("embedded", fleet.urls, fal.url), fleet, fal) as found,
    ):
        yield found


async def run(house: House, *arguments: str, key: str = ADMIN.text) -> Ran:
    env = {"SPILLOVER_URL": house.url, "SPILLOVER_ADMIN_KEY": key}
    return await asyncio.to_thread(lambda: spillover(*arguments, env=env))


async def test_a_claim_from_order_to_release(running: House) -> None:
    order = ("claim", "node-0", "--owner", "train-1", "--reason", "a run")
    made = await run(running, *order, "--wait", "held", "--json")
    (claim,) = made.document["claims"]
    assert (made.code, claim["phase"], claim["nodes"]) == (0, "held", ["node-0"])
    assert claim["actor"].startswith(f"{ADMIN.id}:")
    again = await run(running, *order)
    assert again.code == 4
    assert claim["id"] in again.err
    assert "spillover claims" in again.err
    listed = await run(running, "claims")
    assert claim["id"] in listed.out
    assert "\x1b" not in listed.out
    state = await run(running, "state")
    for word in ("node-0", "held", "house", "fal", "train-1", "ready"):
        assert word in state.out
    ended = await run(running, "release", claim["id"], "--json")
    assert (ended.code, ended.document["claims"][0]["id"]) == (0, claim["id"])
    assert "no claims" in (await run(running, "claims")).out


async def test_release_by_owner(running: House) -> None:
    for node in ("node-0", "node-1"):
        await run(running, "claim", node, "--owner", "train-2", "--reason", "a run", "--grace", "0")
    released = await run(running, "release", "--owner", "train-2", "--json")
    assert {found["nodes"][0] for found in released.document["claims"]} == {"node-0", "node-1"}
    nothing = await run(running, "release", "--owner", "train-2")
    assert (nothing.code, nothing.out) == (3, "")


async def test_flags(running: House) -> None:
    made = await run(running, "flags", "set", "node", "node-1", "--reason", "[red]smells", "--keep", "--json")
    assert (made.code, made.document["expires_at"]) == (0, None)
    listed = await run(running, "flags", "list")
    assert "[red]smells" in listed.out
    assert "never" in listed.out
    stale = await run(
        running, "flags", "set", "node", "node-1", "--reason", "x", "--revision", "9999", "--json"
    )
    assert stale.code == 4
    assert (await run(running, "flags", "clear", "node", "node-1")).code == 0
    assert "no flags" in (await run(running, "flags", "list")).out


async def test_state_as_one_document(running: House) -> None:
    state = await run(running, "state", "--json")
    assert state.code == 0
    assert {pool["name"] for pool in state.document["pools"]} == {"house"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("claim", "nod-0", "--owner", "o", "--reason", "r"), 3, "node-0"),
        (("release", "clm_nothing"), 3, "no such claim"),
        (("flags", "set", "pool", "huse", "--reason", "r"), 3, "house"),
        (("flags", "set", "planet", "mars", "--reason", "r"), 3, "planet"),
        (("flags", "clear", "node", "../../admin"), 3, "nothing at this path"),
        (("claim", "node-0", "--owner", "o", "--reason", "", "--ttl", "1"), 2, "reason"),
        (("release",), 2, "--owner"),
        (("release", "c", "--owner", "o"), 2, "not both"),
        (("claim", "node-0", "--owner", "o"), 2, "--reason"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
async def test_what_is_wrong_and_what_to_do(
    running: House, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = await run(running, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("key", [CLIENT.text, "nobody"])
async def test_a_key_without_the_scope(running: House, key: str) -> None:
    ran = await run(running, "state", key=key)
    assert ran.code == 1
    assert "SPILLOVER_ADMIN_KEY" in ran.err
    assert key not in ran.err


def test_no_key_is_wrong_usage() -> None:
    ran = spillover("state")
    assert ran.code == 2
    assert "SPILLOVER_ADMIN_KEY" in ran.err


def test_nobody_there() -> None:
    ran = spillover("state", "--url", "http://127.0.0.1:1", env={"SPILLOVER_ADMIN_KEY": "x"})
    assert ran.code == 1
    assert "SPILLOVER_URL" in ran.err


def test_another_scheme_is_wrong_usage() -> None:
    ran = spillover("state", "--url", "file:///etc/passwd", env={"SPILLOVER_ADMIN_KEY": "x"})
    assert (ran.code, ran.out) == (2, "")
