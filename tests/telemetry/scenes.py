"""One deployment's words, and one of each event in it."""

from __future__ import annotations

from router.telemetry import events as e
from router.telemetry.gauges import AccountNow, Gauges, PoolNow
from router.telemetry.labels import Labels

LABELS = Labels(
    tenants=frozenset({"acme"}),
    classes=frozenset({"interactive"}),
    models=frozenset({"krea"}),
    pools=frozenset({"home", "fal"}),
    accounts=frozenset({"fal"}),
    workers=frozenset({"w1"}),
)

EVENTS: tuple[e.Event, ...] = (
    e.Admitted("job-1", "req-1", "acme", "krea", "interactive"),
    e.Refused("rate_limited", 429, "acme", "krea"),
    e.Decided("job-1", "try", "onprem_saturated", "fal", "external", 2, "v1", 0.2),
    e.Queued("home", "krea", 3),
    e.Leased("home", "w1", "node-1", 0.3, True),
    e.Denied("home", "no_free_slot"),
    e.AttemptEnded(
        "job-1",
        "home",
        "onprem",
        "w1",
        "openai_images",
        "krea",
        "lost_lease",
        "cut_by_claim",
        1.5,
        2,
        "onprem",
        cut=True,
    ),
    e.Spilled("fal", "krea", "onprem_saturated"),
    e.Held("fal", 40_000),
    e.Settled("fal", 30_000, 40_000),
    e.Answered(
        "job-1",
        "acme",
        "krea",
        "external",
        502,
        3.5,
        0.7,
        2,
        3,
        request_class="interactive",
        code="upstream_error",
    ),
    e.ClaimMoved("clm-1", "slurm", "held", 2, 12.0),
    e.FlagMoved("node", "node-1", True),
    e.WorkerMoved("home", "w1", False),
    e.GhostsEnded("home", "w1", 4),
    e.LeadershipMoved(True),
    e.StoreLost("acquire: no answer within 0.5 s"),
    e.LoopLagged(0.25),
)

GAUGES = Gauges(
    taken_at=0.0,
    in_flight=7,
    leads=True,
    pools={"home": PoolNow(3, 1, 2, 1, 1, 4, 5, 1)},
    accounts={"fal": AccountNow(2, 8, 1_500_000, 50_000_000, cooling=True)},
    claims={"held": 1},
    claims_overdue=1,
    claims_alarmed=2,
    flags={"node": 3},
)
