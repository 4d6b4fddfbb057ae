"""What a stranger or a broken client may send: refused early, in the error shape; nobody else feels it."""

from __future__ import annotations

import asyncio

import pytest

from router.api.bodies import ClientLeft, read_body
from router.api.refusals import Refusal
from tests.api.deployment import CLIENT, House
from tests.api.raw import read_reply, request, talk

KEY = f"Authorization: Bearer {CLIENT.text}"
JSON = "Content-Type: application/json"
CAP = 1_048_576


async def test_a_declared_giant_is_refused_before_it_comes(shared: House) -> None:
    reply = await talk(shared.url, request(b"{", KEY, JSON, length=10**10))
    assert (reply.status, reply.json["error"]["code"]) == (413, "payload_too_large")
    assert reply.closed


async def test_an_undeclared_giant_is_refused_at_the_cap(shared: House) -> None:
    head = f"POST /v1/images/generations HTTP/1.1\r\nHost: x\r\n{KEY}\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    reply = await talk(shared.url, head.encode(), *[chunk] * 17)
    assert (reply.status, reply.json["error"]["code"]) == (413, "payload_too_large")
    assert reply.closed


async def test_a_length_of_many_digits_is_no_number(shared: House) -> None:
    reply = await talk(shared.url, request(b"", KEY, JSON, length=10**17))
    assert reply.status == 413


async def test_headers_have_a_cap(shared: House) -> None:
    reply = await talk(shared.url, request(b"", KEY, f"X-Padding: {'x' * 40_000}"))
    assert (reply.status, reply.json["error"]["code"]) == (431, "headers_too_large")
    elsewhere = await talk(
        shared.url, f"GET /livez HTTP/1.1\r\nHost: x\r\nX: {'x' * 40_000}\r\n\r\n".encode()
    )
    assert (elsewhere.status, elsewhere.json["code"]) == (431, "headers_too_large")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"prompt": "a", "prompt": "b"}',
        b'{"prompt": NaN}',
        b'{"prompt": "\\ud800"}',
        b'{"prompt": "\xff"}',
        b'{"prompt": "a", "n": ' + b"9" * 100_000 + b"}",
        '{"prompt": "a"}'.encode("utf-16"),
    ],
    ids=lambda body: repr(body[:20]),
)
async def test_what_is_not_json_is_refused(shared: House, body: bytes) -> None:
    reply = await talk(shared.url, request(body, KEY, JSON))
    assert (reply.status, reply.json["error"]["code"]) == (400, "invalid_json")


@pytest.mark.parametrize(
    "line",
    [
        "X-Nothing: here",
        "Authorization: Bearer",
        "Authorization: Bearer nobody",
        "Authorization: Basic abc",
        f"Authorization: Bearer {CLIENT.text}x",
        f"Authorization: Bearer {CLIENT.text[:-1]}",
        f"Authorization: Bearer {CLIENT.text} {CLIENT.text}",
        f"Authorization: {CLIENT.text}",
        f"X-Api-Key: {CLIENT.text}",
        "Authorization: Bearer \xff\xfe",
        f"Authorization: Bearer {'x' * 20_000}",
    ],
    ids=lambda line: line[:30],
)
async def test_no_key_and_a_wrong_one_are_answered_alike(shared: House, line: str) -> None:
    reply = await talk(shared.url, request(b'{"prompt": "a"}', line, "X-Request-Id: same", JSON))
    reference = await talk(shared.url, request(b'{"prompt": "a"}', "X-Request-Id: same", JSON))
    assert reply.status == 401
    assert reply.body == reference.body
    assert reply.headers["www-authenticate"] == "Bearer"
    assert CLIENT.secret.encode() not in reply.body


async def test_a_key_in_the_url_opens_nothing(shared: House) -> None:
    reply = await talk(shared.url, request(b"{}", JSON, path=f"/v1/images/generations?api_key={CLIENT.text}"))
    assert reply.status == 401


@pytest.mark.parametrize("host", ["x/livez?", "evil.example", "x/readyz#", "[::1]/livez"])
async def test_a_poisoned_host_opens_nothing(shared: House, host: str) -> None:
    reply = await talk(shared.url, f"GET /admin/state HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert reply.status in (400, 401)


@pytest.mark.parametrize("path", ["//admin/state", "/admin/../admin/state", "/admin/state/", "/ADMIN/state"])
async def test_odd_paths_lead_nowhere(shared: House, path: str) -> None:
    reply = await talk(shared.url, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert reply.status in (401, 404)
    assert "location" not in reply.headers


async def test_a_body_that_never_comes_is_given_up() -> None:
    async def receive() -> dict[str, object]:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    with pytest.raises(Refusal) as refused:
        await read_body({}, receive, CAP, patience_s=0.02)
    assert (refused.value.code, refused.value.status) == ("request_body_timeout", 408)


async def test_a_client_that_leaves_while_sending_is_no_error(shared: House) -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientLeft):
        await read_body({}, receive, CAP, patience_s=1.0)
    reader, writer = await asyncio.open_connection(shared.url.split("//")[1].split(":")[0], _port(shared))
    writer.write(request(b'{"prompt"', KEY, JSON, length=1000))
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert await reader.read() == b""
    assert (await shared.make()).status_code == 200


async def test_two_requests_in_one_write_get_two_answers(shared: House) -> None:
    one = request(b'{"prompt": "a hill"}', KEY, JSON)
    reader, writer = await asyncio.open_connection("127.0.0.1", _port(shared))
    writer.write(one + one)
    try:
        assert (await read_reply(reader)).status == 200
        assert (await read_reply(reader)).status == 200
    finally:
        writer.close()


def _port(house: House) -> int:
    return int(house.url.rsplit(":", 1)[1])
