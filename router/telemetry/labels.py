"""Which label values exist: words of the configuration and of the program. All others become `other`.

So the number of series is bounded by the configuration, whatever a client or a provider sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from providers.contract import Fault
from router.model.claim import FLAG_KINDS, Phase

OTHER = "other"
NONE = "none"
"""Stands for an empty word: no tenant known, no fault, nothing attempted."""

# Codes of refusals, faults and lost races, as the API, the dialects and the store say them.
_CODES = """
done invalid_json invalid_request invalid_idempotency_key unauthenticated forbidden not_found
model_not_found request_body_timeout idempotency_in_progress job_already_terminal claim_conflict
result_expired payload_too_large image_too_large unsupported_media_type method_not_allowed
validation_error idempotency_key_reused url_not_allowed image_invalid unsupported_parameter
content_policy rate_limited concurrency_exceeded tenant_budget_exceeded client_left internal_error
upstream_error upstream_invalid_result no_capacity overloaded draining state_store_unavailable
deadline_exceeded model_off headers_too_large revision_conflict not_ready
"""
_ATTEMPT_CODES = """
busy not_started cancelled out_of_memory no_images no_image result_gone server_error error_in_success
provider_credit bad_credential gateway_error unexpected_status malformed_reply malformed_accept
attempt_mismatch untrusted_url redirect response_too_large bad_url connect_failed send_window_closed
deadline result_unavailable request_not_found cannot_resume no_outcome cut_by_claim
connect_timeout dns_failed tls_failed connection_lost stalled truncated_reply bad_http
image_empty image_not_base64 image_is_markup image_unknown_format image_broken_header image_truncated
image_wrong_size image_wrong_format
"""
_WHYS = """
ended closed pool_closed no_free_slot at_capacity cooling over_budget account_off overflow_off
"""
_REASONS = """
onprem onprem_failed onprem_cannot onprem_claimed onprem_unavailable onprem_saturated onprem_too_slow queued
no_capacity_yet done deadline_exceeded model_off upstream_error unsupported_parameter no_capacity
content_policy invalid_request
"""
_STATUSES = "200 202 400 401 403 404 405 408 409 410 413 415 422 429 431 499 500 502 503 504"

CODES = frozenset((_CODES + _ATTEMPT_CODES).split())
WHYS = frozenset(_WHYS.split())
REASONS = frozenset(_REASONS.split())
STATUSES = frozenset(_STATUSES.split())


@dataclass(frozen=True, slots=True)
class Labels:
    """The words of one deployment. `pools` are on-prem and external ones; an account is an external pool."""

    tenants: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    pools: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()
    workers: frozenset[str] = frozenset()
    codes: frozenset[str] = CODES
    reasons: frozenset[str] = REASONS
    whys: frozenset[str] = WHYS
    _known: Mapping[str, frozenset[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = {
            "tenant": self.tenants,
            "class": self.classes,
            "model": self.models,
            "pool": self.pools,
            "account": self.accounts,
            "worker": self.workers,
            "code": self.codes,
            "reason": self.reasons,
            "why": self.whys,
            "status": STATUSES,
            "fault": frozenset(Fault),
            "phase": frozenset(Phase),
            "route": frozenset({"onprem", "external"}),
            "place": frozenset({"onprem", "external"}),
            "step": frozenset({"try", "wait", "stop"}),
            "kind": frozenset(FLAG_KINDS),
            "to": frozenset({"on", "off"}),
            "state": frozenset({"up", "down"}),
            "how": frozenset({"free", "offered"}),
        }
        object.__setattr__(self, "_known", known)

    def of(self, label: str) -> frozenset[str]:
        """The values this label may have, besides `none` and `other`."""
        return self._known[label]

    def bounded(self, label: str, value: str) -> str:
        """The value itself if it is a known word."""
        if not value:
            return NONE
        return value if value in self._known[label] else OTHER
