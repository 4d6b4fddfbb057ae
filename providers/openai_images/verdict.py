"""From a reply, read to its end, to exactly one outcome."""

from __future__ import annotations

import msgspec

from providers.complaints import Complaint, read_complaint
from providers.contract import Call, Ended, Failed, Fault, Generation, Image, Outcome, Produced
from providers.http import Reply
from providers.images import Flaw, check_image
from providers.retry_after import retry_after_s


class _Item(msgspec.Struct):
    b64_json: str | None = None


class _Body(msgspec.Struct):
    data: list[_Item] | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")
    inference_time_s: float | None = None


_decoder = msgspec.json.Decoder(_Body)  # compiled once; it keeps nothing between calls


def judge(reply: Reply, call: Call) -> Outcome:
    """What the attempt came to."""
    echoed = reply.headers.get("Spillover-Attempt")
    if echoed is not None and echoed.partition(";")[0] != call.attempt:
        return Failed(Fault.UNUSABLE, "attempt_mismatch")  # another job's image is never returned
    if reply.status != 200:
        return _refusal(reply)
    try:
        body = _decoder.decode(reply.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Failed(Fault.UNUSABLE, "malformed_reply")
    if bytes(body.error) != b"null":
        return _error_in_success(read_complaint(bytes(body.error)))
    return _produced(body, call.generation)


def _produced(body: _Body, generation: Generation) -> Outcome:
    """The images that pass their checks; the router asks again for those that are missing."""
    checked = [_check(item, generation) for item in body.data or ()]
    images = tuple(image for image in checked if isinstance(image, Image))
    if images:
        return Produced(images[: generation.count], seed=generation.seed, server_s=body.inference_time_s)
    return Failed(Fault.UNUSABLE, next((str(flaw) for flaw in checked), "no_images"))


def _check(item: _Item, generation: Generation) -> Image | Flaw:
    return check_image(
        item.b64_json or "",
        size=(generation.width, generation.height),
        media_type=f"image/{generation.output_format}",
    )


def _error_in_success(complaint: Complaint) -> Failed:
    if complaint.is_policy:
        return Failed(Fault.DETERMINISTIC, "content_policy", _words(complaint))
    if complaint.is_out_of_memory:
        return Failed(Fault.FAILED_KNOWN, "out_of_memory", _words(complaint))
    return Failed(Fault.UNUSABLE, "error_in_success", _words(complaint))


def _refusal(reply: Reply) -> Failed:
    """Body before status: some servers use 400 and 429 for an empty account."""
    complaint = read_complaint(reply.body)
    detail = " ".join((f"HTTP {reply.status}", _words(complaint))).rstrip()
    if reply.status == 402 or (complaint.is_credit and reply.status in (400, 403, 429)):
        return Failed(Fault.BAD_CREDENTIAL, "provider_credit", detail)
    match reply.status:
        case 400 | 405 | 413 | 414 | 415 | 422:
            code = "content_policy" if complaint.is_policy else "invalid_request"
            return Failed(Fault.DETERMINISTIC, code, detail)
        case 401 | 403:
            return Failed(Fault.BAD_CREDENTIAL, "bad_credential", detail)
        case 404:  # a server without this API or model: misconfigured, another may do
            return Failed(Fault.FAILED_KNOWN, "not_found", detail)
        case 408 | 409 | 425 | 429 | 503 | 529:
            return Failed(Fault.REFUSED, "busy", detail, retry_after_s=retry_after_s(reply.headers))
        case 499 | 502 | 504:  # said by something in between, which cannot know
            return Failed(Fault.AMBIGUOUS, "gateway_error", detail, ended=Ended.UNKNOWN)
        case status if status >= 500:
            code = "out_of_memory" if complaint.is_out_of_memory else "server_error"
            return Failed(Fault.FAILED_KNOWN, code, detail)
        case _:
            return Failed(Fault.UNUSABLE, "unexpected_status", detail)


def _words(complaint: Complaint) -> str:
    return " ".join(complaint.words[:3])
