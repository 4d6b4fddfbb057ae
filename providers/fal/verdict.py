"""From an error of fal to exactly one outcome: on the submit, and on the result of work that has ended.

fal documents that a 5xx is never billed and that a 4xx may be. The type of an error stands in the body
(`error_type`, `detail[].type`) or in `X-Fal-Error-Type`; it is read before the status.
"""

from __future__ import annotations

from dataclasses import replace

from providers.complaints import Complaint, read_complaint
from providers.contract import Ended, Failed, Fault, Spent
from providers.http import Reply
from providers.retry_after import retry_after_s

# The work never started: no runner in time, or none that could be reached.
NOT_STARTED = frozenset(
    {
        "request_timeout",
        "startup_timeout",
        "runner_scheduling_failure",
        "runner_connection_timeout",
        "runner_connection_refused",
        "runner_connection_error",
    }
)
CANCELLED = frozenset({"client_disconnected", "client_cancelled"})


def lost_submit(failed: Failed) -> Failed:
    """A submit without a readable reply: whatever was sent may have been accepted."""
    spent = Spent.NO if failed.fault is Fault.NOT_SENT else Spent.POSSIBLE
    ended = Ended.YES if failed.fault is Fault.NOT_SENT else Ended.UNKNOWN
    fault = failed.fault if failed.fault is Fault.NOT_SENT else Fault.AMBIGUOUS
    return Failed(fault, failed.code, failed.detail, ended, spent)


def refused_submit(reply: Reply) -> Failed:
    """A submit that was not answered with a 2xx."""
    complaint = read_complaint(reply.body)
    detail = _detail(reply, complaint)
    account = _account(reply, complaint, detail)
    if account is not None:
        return account
    match reply.status:
        case 404:
            return Failed(Fault.FAILED_KNOWN, "not_found", detail)
        case 408 | 409 | 425 | 429 | 503:
            return Failed(Fault.REFUSED, "busy", detail, retry_after_s=retry_after_s(reply.headers))
        case 499 | 502 | 504:
            return _unknown_submit("gateway_error", detail)
        case status if 400 <= status < 500:
            code = "content_policy" if complaint.is_policy else "invalid_request"
            return Failed(Fault.DETERMINISTIC, code, detail)
        case status if status >= 500 and _types(reply, complaint):  # fal's own word, not an edge's
            return Failed(Fault.FAILED_KNOWN, "server_error", detail)
        case _:
            return _unknown_submit("server_error", detail)


def failed_work(reply: Reply) -> Failed:
    """Work that COMPLETED with an error; `reply` is its result, with the model's own status and body."""
    complaint = read_complaint(reply.body)
    detail = _detail(reply, complaint)
    types = _types(reply, complaint)
    if complaint.is_policy:
        return Failed(Fault.DETERMINISTIC, "content_policy", detail, spent=Spent.POSSIBLE)
    if types & NOT_STARTED:
        return Failed(Fault.REFUSED, "not_started", detail, retry_after_s=retry_after_s(reply.headers))
    if types & CANCELLED:
        return Failed(Fault.FAILED_KNOWN, "cancelled", detail, spent=Spent.POSSIBLE)
    if complaint.is_out_of_memory:
        return Failed(Fault.FAILED_KNOWN, "out_of_memory", detail)
    if "no_media_generated" in types:
        return Failed(Fault.UNUSABLE, "no_images", detail, spent=Spent.POSSIBLE)
    account = _account(reply, complaint, detail)
    if account is not None:  # the result is withheld; the work may have been done
        return replace(account, spent=Spent.POSSIBLE)
    return _failed_by_status(reply, detail)


def _failed_by_status(reply: Reply, detail: str) -> Failed:
    match reply.status:
        case 408 | 409 | 425 | 429:
            return Failed(Fault.REFUSED, "busy", detail, retry_after_s=retry_after_s(reply.headers))
        case 404 | 410:
            return Failed(Fault.UNUSABLE, "result_gone", detail, spent=Spent.POSSIBLE)
        case status if 400 <= status < 500:
            return Failed(Fault.DETERMINISTIC, "invalid_request", detail, spent=Spent.POSSIBLE)
        case status if status >= 500:
            return Failed(Fault.FAILED_KNOWN, "server_error", detail)
        case _:
            return Failed(Fault.UNUSABLE, "error_in_success", detail, spent=Spent.POSSIBLE)


def is_final(reply: Reply) -> bool:
    """A reply to GET result that is the model's own word, and not a hiccup on the way to it."""
    if reply.status in (408, 425, 429):
        return False
    if reply.status < 500:
        return reply.status == 200 or reply.status >= 400
    return bool(_types(reply, read_complaint(reply.body)))


def _account(reply: Reply, complaint: Complaint, detail: str) -> Failed | None:
    """An empty account is a 403 with a text about its balance; an admin lock is a 403 too."""
    if reply.status == 402 or (reply.status == 403 and complaint.is_credit):
        return Failed(Fault.BAD_CREDENTIAL, "provider_credit", detail)
    if reply.status in (401, 403):
        return Failed(Fault.BAD_CREDENTIAL, "bad_credential", detail)
    return None


def _unknown_submit(code: str, detail: str) -> Failed:
    return Failed(Fault.AMBIGUOUS, code, detail, Ended.UNKNOWN, Spent.POSSIBLE)


def _types(reply: Reply, complaint: Complaint) -> frozenset[str]:
    header = reply.headers.get("X-Fal-Error-Type")
    return frozenset(complaint.words) | ({header} if header else set())


def _detail(reply: Reply, complaint: Complaint) -> str:
    return " ".join((f"HTTP {reply.status}", *complaint.words[:3]))
