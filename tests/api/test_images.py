"""Making images over HTTP, with every routing fact where clients look for it."""

from __future__ import annotations

from tests.api.deployment import House


async def test_an_image_comes_with_its_facts(small: House) -> None:
    reply = await small.make()
    print(reply.headers, {k: v for k, v in reply.json().items() if k != "data"})
    assert reply.status_code == 200
