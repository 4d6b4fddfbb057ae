"""`spillover healthcheck` asks a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.command import spillover


class Handler(BaseHTTPRequestHandler):
    """Answers `/<status>` with that status, and `/garbage` with no HTTP at all."""

    def do_GET(self) -> None:
        if self.path == "/garbage":
            self.wfile.write(b"garbage\r\n\r\n")
            return
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def test_a_healthy_address(server: str) -> None:
    ran = spillover("healthcheck", "--url", f"{server}/200", env={"http_proxy": "http://127.0.0.1:1"})
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize(
    ("path", "said"), [("503", "status 503"), ("404", "status 404"), ("garbage", "garbage")]
)
def test_an_unhealthy_address(server: str, path: str, said: str) -> None:
    ran = spillover("healthcheck", "--url", f"{server}/{path}")
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err


def test_nobody_there() -> None:
    ran = spillover("healthcheck", "--url", "http://127.0.0.1:1/livez")
    assert ran.code == 1
    assert "refused" in ran.err


@pytest.mark.parametrize("url", ["file:///etc/hostname", "livez", ""])
def test_something_else_than_an_http_address(url: str) -> None:
    assert spillover("healthcheck", "--url", url).code == 2
