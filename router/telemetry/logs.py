"""Log lines as JSON on standard output: one line each, whatever is in it.

`bound` says what the lines of the current task are about. Secrets must not reach a log line; `redaction` is
the second line of defence.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

from router.telemetry.redaction import redacted

SUBJECTS = ("trace_id", "span_id", "request_id", "job_id")
SERVER_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")

_subject: ContextVar[Mapping[str, str]] = ContextVar("spillover_log_subject", default={})  # noqa: B039


def configure_logging(level: str, stream: TextIO | None = None) -> None:
    """Sends every logger of the process to one handler. Start uvicorn with `log_config=None`."""
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in SERVER_LOGGERS:
        server = logging.getLogger(name)
        server.handlers = []
        server.propagate = True


@contextmanager
def bound(**subject: str) -> Iterator[None]:
    """Lines written in here carry these ids as well; names are those of `SUBJECTS`."""
    token = _subject.set({**_subject.get(), **subject})
    try:
        yield
    finally:
        _subject.reset(token)


class JsonLines(logging.Formatter):
    """`ts`, `level`, `logger`, `message`, the ids that are known, and what an event told."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; control characters are escaped, so nothing in it can begin another line."""
        line: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update(_subject.get())
        line.update({name: value for name in SUBJECTS if (value := record.__dict__.get(name))})
        line.update(record.__dict__.get("told", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redacted(json.dumps(line, default=str))
