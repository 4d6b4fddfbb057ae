"""Class and deadline of a ticket, from headers that anybody can write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Generation
from router.api.refusals import Refusal
from router.api.tenants import Keyring
from router.api.tickets import Tickets, retries
from router.model.ticket import Ticket
from tests.api.deployment import CLIENT, document, loaded

CONFIG = loaded(document("redis://nowhere:1/0", ["http://nowhere:1"], "http://nowhere:2")).config
CALLER = Keyring(CONFIG).caller(f"Bearer {CLIENT.text}".encode())
TICKETS = Tickets(CONFIG, lambda: "job_1")
HILL = Generation("krea", "a hill", 64, 64, 4)


def ticket(**headers: str) -> Ticket:
    sent = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    return TICKETS.ticket(HILL, CALLER, sent, "req_1", 1000.0, None)


def test_the_tenants_class_decides() -> None:
    made = ticket()
    assert (made.request_class, made.arrived, made.deadline) == ("standard", 1000.0, 1020.0)
    assert not made.joinable


def test_a_class_can_be_named() -> None:
    assert ticket(spillover_class="hasty").deadline == 1005.0


def test_a_deadline_can_be_named() -> None:
    assert ticket(spillover_deadline="2.5", spillover_class="hasty").deadline == 1002.5


@pytest.mark.parametrize(
    "asked", ["0", "-1", "nan", "inf", "1e3", "", "soon", "3601", "1_000", "٣", "1" * 400, "0x10", " 5"]
)
def test_an_absurd_deadline_is_refused(asked: str) -> None:
    with pytest.raises(Refusal) as refused:
        ticket(spillover_deadline=asked)
    assert (refused.value.code, refused.value.param) == ("validation_error", "Spillover-Deadline")


@pytest.mark.parametrize(
    ("asked", "hint"), [("hastey", "did you mean `hasty`?"), ("x", "one of hasty, standard")]
)
def test_an_unknown_class_is_refused(asked: str, hint: str) -> None:
    with pytest.raises(Refusal) as refused:
        ticket(spillover_class=asked)
    assert refused.value.param == "Spillover-Class"
    assert hint in refused.value.message


@pytest.mark.parametrize(
    ("timeout", "allowed"),
    [("600", 20.0), ("10", 9.0), ("3", 2.0), ("1", 0.5), ("0", 20.0), ("None", 20.0), ("NOT_GIVEN", 20.0)],
)
def test_the_answer_is_out_before_the_sdk_hangs_up(timeout: str, allowed: float) -> None:
    assert ticket(x_stainless_read_timeout=timeout).deadline == 1000.0 + allowed


def test_a_long_deadline_keeps_a_margin_of_two_percent() -> None:
    assert ticket(x_stainless_read_timeout="600", spillover_deadline="3000").deadline == 1588.0


def test_an_sdks_request_can_be_joined() -> None:
    assert ticket(x_stainless_retry_count="0").joinable


@pytest.mark.parametrize(
    ("sent", "count"), [("0", 0), ("2", 2), ("-1", 0), ("x", 0), ("9" * 5000, 0), ("²", 0)]
)
def test_retries_are_counted(sent: str, count: int) -> None:
    assert retries({b"x-stainless-retry-count": sent.encode()}) == count


@given(st.binary(max_size=12))
def test_any_header_is_a_deadline_or_a_refusal(sent: bytes) -> None:
    try:
        made = TICKETS.ticket(HILL, CALLER, {b"spillover-deadline": sent}, "req_1", 0.0, None)
    except Refusal:
        return
    assert 0 < made.deadline <= 3600
