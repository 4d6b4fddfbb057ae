"""Clients that leave, and SDKs that come back with the same request."""

from __future__ import annotations

import asyncio
import json

from tests.api.deployment import CLIENT, RIVAL, House, bearer
from tests.api.raw import request, talk

BODY = json.dumps({"prompt": "a hill"}).encode()
KEY = f"Authorization: Bearer {CLIENT.text}"


async def leave_while_running(house: House, *lines: str) -> None:
    """A request whose client hangs up once its generation runs."""
    _, writer = await asyncio.open_connection("127.0.0.1", int(house.url.rsplit(":", 1)[1]))
    writer.write(request(BODY, KEY, *lines))
    await writer.drain()
    await house.fleet.ledger.until(lambda ledger: ledger.count("started") > 0)
    writer.close()
    await writer.wait_closed()


async def test_an_unpaid_run_ends_with_its_client(slow: House) -> None:
    await leave_while_running(slow)
    await slow.until(lambda: idle(slow), seconds=1.0)


async def test_a_queued_run_ends_with_its_client(slow: House) -> None:
    await slow.admin("PUT", "/admin/flags/overflow/overflow", json={"reason": "a test"})
    first = asyncio.create_task(slow.make())
    await slow.fleet.ledger.until(lambda ledger: ledger.count("started") == 1)
    _, writer = await asyncio.open_connection("127.0.0.1", int(slow.url.rsplit(":", 1)[1]))
    writer.write(request(BODY, KEY))
    await slow.until(lambda: holds(slow, 2))
    writer.close()
    await slow.until(lambda: holds(slow, 1), seconds=0.9)
    assert (await first).status_code == 200
    assert slow.fleet.ledger.count("started") == 1


async def test_a_repeated_request_joins_its_twin(slow: House) -> None:
    await leave_while_running(slow, "x-stainless-retry-count: 0")
    assert len(slow.replica.parts.desk) == 1
    again = await talk(slow.url, request(BODY, KEY, "x-stainless-retry-count: 1"))
    assert again.status == 200
    assert again.headers["spillover-joined"] == "true"
    assert slow.fleet.ledger.count("started") == 1


async def test_a_twin_that_is_done_is_given_again(shared: House) -> None:
    first = await talk(shared.url, request(BODY, KEY, "x-stainless-retry-count: 0"))
    again = await talk(shared.url, request(BODY, KEY, "x-stainless-retry-count: 2"))
    assert again.headers["spillover-job-id"] == first.headers["spillover-job-id"]
    assert again.json["data"] == first.json["data"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]


async def test_only_the_same_key_and_body_are_a_twin(shared: House) -> None:
    retried = {"x-stainless-retry-count": "1"}
    await shared.make(headers={"x-stainless-retry-count": "0"})
    for reply in (
        await shared.make("another hill", headers=retried),
        await shared.make(key=RIVAL, headers=retried),
        await shared.make(headers={"x-stainless-retry-count": "0"}),
        await shared.make(),
    ):
        assert reply.status_code == 200
        assert "spillover-joined" not in reply.headers


async def test_a_slow_reader_gets_all_of_it(shared: House) -> None:
    async with shared.http.stream(
        "POST", "/v1/images/generations", json={"prompt": "a hill", "n": 4}, headers=bearer(CLIENT)
    ) as reply:
        size = 0
        async for piece in reply.aiter_raw(4096):
            size += len(piece)
        assert size == int(reply.headers["content-length"])


async def idle(house: House) -> bool:
    return len(house.replica.parts.desk) == 0


async def holds(house: House, count: int) -> bool:
    return len(house.replica.parts.desk) == count
