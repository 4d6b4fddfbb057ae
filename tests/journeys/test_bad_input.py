"""Bad input over real sockets: a 4xx at once, and neither a slot nor a cent is touched."""

from __future__ import annotations

import io
import json
import re
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.journeys import rawstore
from tests.journeys.client import PATH, clients
from tests.journeys.deployment import HOUSE, MODEL, bearer
from tests.journeys.stack import Stack

AT_ONCE_S = 1.0
WHOLE = re.compile(rb".*\r\n\r\n", re.DOTALL)
LONG = 1_100_000
GOOD = b'{"prompt": "a hill"}'


def exchange(url: str, head: list[str], *pieces: bytes) -> tuple[int, dict[str, Any], float]:
    """Sends bytes as they are; returns status, JSON body, and seconds until the reply had been read."""
    address = urlsplit(url)
    began = time.monotonic()
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        lines = ["POST /v1/images/generations HTTP/1.1", "Host: localhost", "Connection: close", *head]
        raw.sendall("\r\n".join([*lines, "", ""]).encode())
        try:
            for piece in pieces:
                raw.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before the body was read to its end
        reply = _read(raw)
    headers, _, body = reply.partition(b"\r\n\r\n")
    return int(headers.split(b" ", 2)[1]), json.loads(body), time.monotonic() - began


def _read(raw: socket.socket) -> bytes:
    """One reply, to the end that it says itself."""
    reply = b""
    while not WHOLE.match(reply) or len(reply) < _length(reply):
        piece = raw.recv(65536)
        assert piece, "the connection was closed before the reply had ended"
        reply += piece
    return reply


def _length(reply: bytes) -> int:
    head, _, _ = reply.partition(b"\r\n\r\n")
    (length,) = re.findall(rb"\r\ncontent-length: (\d+)", head)
    return len(head) + 4 + int(length)


def send(running: Stack, body: bytes, *more: str) -> tuple[int, dict[str, Any], float]:
    head = [
        f"Authorization: Bearer {HOUSE.text}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *more,
    ]
    return exchange(running.urls[0], head, body)


def untouched(running: Stack) -> bool:
    """Nobody was asked for anything, and nothing is held."""
    money = {
        key: value
        for key, value in rawstore.dump(running.store.url).items()
        if "{money}" in key and "day" in key
    }
    return not (running.workers.rows() or running.fal.rows() or rawstore.leases(running.store.url) or money)


BAD: dict[str, tuple[bytes, tuple[str, ...], int, str | None]] = {
    "cut short": (b'{"prompt": "a hill"', (), 400, None),
    "nothing": (b"", (), 400, None),
    "no object": (b"[1, 2]", (), 400, None),
    "a key twice": (b'{"prompt": "a hill", "prompt": "a lake"}', (), 400, None),
    "not UTF-8": (b'{"prompt": "a \xff hill"}', (), 400, None),
    "too deep": (b'{"prompt": ' + b"[" * 5000 + b"]" * 5000 + b"}", (), 400, None),
    "unknown field": (b'{"prompt": "a hill", "stepz": 4}', (), 422, "stepz"),
    "no images": (b'{"prompt": "a hill", "n": 0}', (), 422, "n"),
    "too many images": (b'{"prompt": "a hill", "n": 1e9}', (), 422, "n"),
    "too large an image": (b'{"prompt": "a hill", "size": "99999x99999"}', (), 422, "size"),
    "no prompt": (b'{"prompt": ""}', (), 422, "prompt"),
    "no such model": (b'{"prompt": "a hill", "model": "no-such-model"}', (), 404, "model"),
    "endless deadline": (GOOD, ("Spillover-Deadline: 999999999",), 422, "Spillover-Deadline"),
    "deadline in the past": (GOOD, ("Spillover-Deadline: -1",), 422, "Spillover-Deadline"),
    "deadline in words": (GOOD, ("Spillover-Deadline: soon",), 422, "Spillover-Deadline"),
    "no such class": (GOOD, ("Spillover-Class: no-such-class",), 422, "Spillover-Class"),
    "compressed": (GOOD, ("Content-Encoding: gzip",), 415, None),
    "too long": (b'{"prompt": "' + b"x" * LONG + b'"}', (), 413, None),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_at_once(calm: Stack, name: str) -> None:
    body, more, status, param = BAD[name]
    found, said, seconds = send(calm, body, *more)
    error = said["error"]
    assert (found, error["param"], error["retryable"]) == (status, param, False)
    assert seconds < AT_ONCE_S
    assert untouched(calm)


def test_a_body_without_an_end_is_cut_at_the_limit(calm: Stack) -> None:
    head = [
        f"Authorization: Bearer {HOUSE.text}",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
    ]
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    status, said, seconds = exchange(calm.urls[0], head, *[chunk] * 40)
    assert (status, said["error"]["code"]) == (413, "payload_too_large")
    assert seconds < AT_ONCE_S
    assert untouched(calm)


@pytest.mark.parametrize("size", [LONG, 8 * LONG])
async def test_a_refusal_reaches_whoever_is_still_sending(calm: Stack, size: int) -> None:
    """A connection closed upon unread bytes is reset, which a client takes for a reason to try again."""
    headers = {**bearer(HOUSE), "Content-Type": "application/json"}
    async with clients(calm.urls[0], keep_alive=False) as (client,):
        for _ in range(20):
            answer = await client.ask("POST", PATH, data=io.BytesIO(b"x" * size), headers=headers)
            assert (answer.status, answer.code) == (413, "payload_too_large")
    assert untouched(calm)


def test_a_stranger_is_told_nothing_of_his_mistakes(calm: Stack) -> None:
    body = json.dumps({"prompt": "a hill", "model": MODEL, "n": 0}).encode()
    status, said, _ = exchange(calm.urls[0], [f"Content-Length: {len(body)}"], body)
    assert (status, said["error"]["code"]) == (401, "unauthenticated")
    assert untouched(calm)
