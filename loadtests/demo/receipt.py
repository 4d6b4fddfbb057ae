"""What the client got for one order, and whether it is really the picture that was asked for."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass

from loadtests.demo.script import Order
from loadtests.emulators.pictures import JOB, PROMPT, SEED, prompt_mark, read_marks


@dataclass(frozen=True, slots=True)
class Receipt:
    """One answered order; moments are wall seconds. `fault`: why it is not a valid picture, or empty.

    `status` 0 means that no answer came. `route` is `onprem` or `external`.
    """

    number: int
    request_class: str
    sent_at: float
    ended_at: float
    status: int = 0
    job: str = ""
    route: str = ""
    reason: str = ""
    attempts: int = 0
    fault: str = ""

    @property
    def valid(self) -> bool:
        return not self.fault

    @property
    def seconds(self) -> float:
        return self.ended_at - self.sent_at


def read(
    order: Order, sent_at: float, ended_at: float, status: int, headers: Mapping[str, str], body: bytes
) -> tuple[Receipt, bytes | None]:
    """The receipt of an answer, and the picture if it is the right one. `headers` by lower-case name."""
    job = headers.get("spillover-job-id", "")
    picture, fault = _picture(status, body)
    if picture is not None:
        fault = _mismatch(order, job, picture)
    receipt = Receipt(
        number=order.number,
        request_class=order.request_class,
        sent_at=sent_at,
        ended_at=ended_at,
        status=status,
        job=job,
        route=headers.get("spillover-route", ""),
        reason=headers.get("spillover-reason", ""),
        attempts=int(headers.get("spillover-attempts", "0")),
        fault=fault,
    )
    return receipt, picture if not fault else None


def _picture(status: int, body: bytes) -> tuple[bytes | None, str]:
    try:
        document = json.loads(body)
        if status != 200:
            return None, f"HTTP {status}: {document['error']['code']}"
        (image,) = document["data"]
        return base64.b64decode(image["b64_json"], validate=True), ""
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None, f"HTTP {status} with a body that holds no single image"


def _mismatch(order: Order, job: str, picture: bytes) -> str:
    """Every chunk of the PNG is checked by its CRC; the marks were put in by whoever drew it."""
    try:
        marks = read_marks(picture)
    except ValueError as error:
        return str(error)
    wanted = {JOB: job, PROMPT: prompt_mark(order.prompt), SEED: str(order.seed)}
    wrong = [name for name, value in wanted.items() if not value or marks.get(name) != value]
    return f"somebody else's picture: {', '.join(wrong)}" if wrong else ""
