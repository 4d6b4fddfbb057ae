"""What each fault of the fal emulator does, one table per moment of a request.

refusals: an HTTP endpoint answers at once with an error; the fault's `on` parameter names it (submit,
status, result, cancel), submit unless given. submission, waiting, running, cancelling, drawn, status,
result, media: the other moments.
"""

from dataclasses import dataclass, replace
from typing import Any

from loadtests.emulators.faults import Params, Stage
from loadtests.emulators.refusals import Refused
from loadtests.emulators.spoiled import HTML, not_an_image, truncated, wrong_size

EXHAUSTED = "User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing."
POLICY = "The content could not be processed because it contained material flagged by a content checker."
POLICY_TYPE = "content_policy_violation"


@dataclass(frozen=True)
class Failure:
    """How a request ends when it ends badly: what its result answers, and what the status says of it."""

    status: int
    body: dict[str, Any]
    error: str
    error_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    billed: bool = False


@dataclass(frozen=True)
class Wait:
    delay_s: float = 0.0
    stuck: bool = False


@dataclass(frozen=True)
class Run:
    slowness: float = 1.0
    stuck: bool = False
    flagged: bool = False
    failure: Failure | None = None


@dataclass(frozen=True)
class Page:
    """A reply that faults may replace: status, text and media type."""

    status: int
    text: str
    media_type: str = "application/json"


def model_failure(status: int, kind: str, message: str, *, billed: bool = False) -> Failure:
    """A model error: the `detail` list of a runner."""
    entry = {"loc": ["body"], "msg": message, "type": kind, "url": f"https://docs.fal.ai/errors#{kind}"}
    retryable = "true" if status >= 500 else "false"
    return Failure(status, {"detail": [entry]}, message, kind, (("x-fal-retryable", retryable),), billed)


def request_failure(status: int, kind: str, message: str, **headers: str) -> Failure:
    """A request error: `detail` text and `error_type`, the latter in a header too."""
    extra = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    body = {"detail": message, "error_type": kind}
    return Failure(status, body, message, kind, (("x-fal-error-type", kind), *extra))


def _limited(_: Refused | None, fault: Params) -> Refused:
    after = {"retry-after": str(fault["retry_after"])} if "retry_after" in fault else {}
    return Refused(429, {"detail": "Rate limit exceeded. Please slow down."}, after)


def _policy(plan: Run, fault: Params) -> Run:
    return replace(plan, failure=model_failure(422, POLICY_TYPE, POLICY, billed=fault.get("billed", False)))


REFUSALS: Stage[Refused | None] = {
    "rate_limited": _limited,
    "error503": lambda _, __: Refused(503, {"detail": "Service temporarily unavailable"}),
    "locked403": lambda _, __: Refused(403, {"detail": EXHAUSTED}),
    "bad_key401": lambda _, __: Refused(
        401, {"detail": "Cannot access application. Authentication is required."}
    ),
}

SUBMISSION: Stage[bool] = {"submit_reply_lost": lambda _, __: True}

WAITING: Stage[Wait] = {
    "queue_delay": lambda wait, fault: replace(wait, delay_s=wait.delay_s + fault.get("s", 1.0)),
    "stuck_in_queue": lambda wait, _: replace(wait, stuck=True),
}

RUN: Stage[Run] = {
    "slow": lambda run, fault: replace(run, slowness=run.slowness * fault.get("factor", 4.0)),
    "stuck_in_progress": lambda run, _: replace(run, stuck=True),
    "nsfw": lambda run, _: replace(run, flagged=True),
    "content_policy": _policy,
    "model_error500": lambda run, _: replace(
        run, failure=model_failure(500, "internal_server_error", "Internal server error")
    ),
    "runner_lost": lambda run, _: replace(
        run, failure=request_failure(503, "runner_disconnected", "Runner disconnected")
    ),
}

CANCELLING: Stage[str] = {
    "cancel_too_late": lambda _, __: "too_late",
    "cancel_ignored": lambda _, __: "ignored",
}

DRAWN: Stage[tuple[bytes, ...]] = {
    "missing_image": lambda _, __: (),
    "truncated_image": lambda drawn, _: tuple(map(truncated, drawn)),
    "not_an_image": lambda drawn, _: tuple(map(not_an_image, drawn)),
    "wrong_size": lambda drawn, _: tuple(map(wrong_size, drawn)),
}

STATUS: Stage[Page] = {
    "bad_status_json": lambda page, _: replace(page, text=page.text[: len(page.text) // 2])
}

RESULT: Stage[Page] = {
    "result_404": lambda _, __: Page(404, '{"detail": "Request not found"}'),
    "result_garbage": lambda _, __: Page(200, HTML.decode(), "text/html"),
}

MEDIA: Stage[Page | None] = {
    "result_expired": lambda _, fault: Page(
        fault.get("status", 403), "<Error>Request has expired</Error>", "text/xml"
    ),
}

STAGES = (REFUSALS, SUBMISSION, WAITING, RUN, CANCELLING, DRAWN, STATUS, RESULT, MEDIA)
