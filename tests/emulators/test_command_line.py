"""The emulators as a process: one line when ready, a ledger on disk, a clean end at SIGTERM."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "loadtests.emulators", *arguments,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        yield child, json.loads(await asyncio.wait_for(child.stdout.readline(), 10))
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


async def test_workers(tmp_path: Path, http: httpx.AsyncClient) -> None:
    ledger = tmp_path / "workers.jsonl"
    arguments = ("sglang", "--workers", "2", "--time-scale", "0.05", "--ledger", str(ledger))
    async with process(*arguments) as (child, ready):
        assert len(ready["urls"]) == 2
        body = {"prompt": "p", "size": "64x64", "response_format": "b64_json"}
        for url in ready["urls"]:
            assert (await http.post(f"{url}/v1/images/generations", json=body)).status_code == 200
        child.send_signal(signal.SIGTERM)
        _, complaints = await asyncio.wait_for(child.communicate(), 10)
        assert (child.returncode, complaints) == (0, b"")
    rows = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert {row["worker"] for row in rows if row["kind"] == "finished"} == {"worker-0", "worker-1"}


async def test_fal(tmp_path: Path, key_http: httpx.AsyncClient) -> None:
    ledger = tmp_path / "fal.jsonl"
    async with process("fal", "--time-scale", "30", "--ledger", str(ledger)) as (child, ready):
        (url,) = ready["urls"]
        assert (await key_http.post(f"{url}/fal-ai/flux/dev", json={"prompt": "p"})).status_code == 200
        child.send_signal(signal.SIGTERM)
        _, complaints = await asyncio.wait_for(child.communicate(), 10)
        assert (child.returncode, complaints) == (0, b"")
    assert json.loads(ledger.read_text().splitlines()[0])["kind"] == "submitted"
