"""A host serves, can be cut off like a dying process, and comes back at the same address."""

from __future__ import annotations

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from loadtests.emulators import Host, serve


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def test_it_listens_as_soon_as_the_block_begins(http: httpx.AsyncClient) -> None:
    async with serve(hello) as url:
        assert (await http.get(url)).text == "hello"
    with pytest.raises(httpx.TransportError):
        await http.get(url)


async def test_a_cut_host_refuses_and_returns_at_the_same_port(http: httpx.AsyncClient) -> None:
    host = Host()
    await host.open(hello)
    try:
        url = host.url
        await http.get(url)
        host.cut()
        with pytest.raises(httpx.TransportError):
            await http.get(url)
        await host.reopen()
        assert host.url == url
        assert (await http.get(url)).text == "hello"
    finally:
        await host.close()


async def test_a_taken_port_is_an_error_at_once() -> None:
    async with serve(hello) as url:
        with pytest.raises(OSError, match="in use"):
            await Host(int(url.rsplit(":", 1)[1])).open(hello)
