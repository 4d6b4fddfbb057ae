"""`GET /admin/state`: everything an operator looks at first, from the picture that the replica has anyway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from config.schema import Config, OnPremPool
from router.api.documents import (
    AccountState,
    Alarm,
    NodeDocument,
    NodeState,
    PoolState,
    SlotsState,
    State,
    StoreState,
    WorkerState,
)
from router.api.gate import Gate
from router.model.claim import ENDED, Claim, Flag, Phase
from router.model.fleet import AccountView
from router.model.money import MICRO
from router.store.ledger import DayBook
from router.store.picture import PoolPicture

_STATES: Mapping[Phase, NodeState] = {
    Phase.REQUESTED: "claimed",
    Phase.DRAINING: "draining",
    Phase.HELD: "held",
    Phase.RELEASING: "claimed",
}
_STRONGEST: tuple[NodeState, ...] = ("held", "draining", "claimed")


async def state_of(gate: Gate) -> State:
    """The document. Raises `StoreDown`, because claims and flags are read from their truth."""
    claims = [claim for claim in await gate.claims.all() if claim.phase not in ENDED]
    flags = await gate.flags.all()
    lookout, now = gate.lookout, gate.clock.now()
    pictures = {name: lookout.pictures[name] for name in sorted(lookout.pictures)}
    silent = lookout.silent_for()
    return State(
        replica=gate.replica,
        now=now,
        ready=not gate.why_not_ready(),
        draining=not gate.drain.ready,
        in_flight=len(gate.desk),
        waiting=sum(picture.view.waiting for picture in pictures.values()),
        overflow_open=lookout.snapshot.overflow_open,
        store=StoreState(silent if silent != float("inf") else None, gate.clock.skew()),
        pools=tuple(_pool(name, picture) for name, picture in pictures.items()),
        accounts=tuple(
            _account(view, lookout.books.get(name), now)
            for name, view in sorted(lookout.snapshot.accounts.items())
        ),
        nodes=_nodes(gate.config, claims, flags),
        claims=tuple(claims),
        flags=tuple(flags),
        alarms=(*_claim_alarms(claims), *_ghost_alarms(pictures)),
    )


def _pool(name: str, picture: PoolPicture) -> PoolState:
    held = Counter((lease.worker, lease.state) for lease in picture.leases)
    all_states = Counter(lease.state for lease in picture.leases)
    workers = picture.view.workers
    return PoolState(
        name=name,
        open=picture.view.open,
        waiting=picture.view.waiting,
        slots=SlotsState(
            total=sum(worker.slots for worker in workers),
            free=sum(worker.free for worker in workers if worker.takes_work) if picture.view.open else 0,
            leased=all_states["leased"],
            offered=all_states["offered"],
            ghost=all_states["ghost"],
        ),
        workers=tuple(
            WorkerState(
                id=worker.id,
                node=worker.node,
                url=worker.url,
                up=worker.up,
                closed=worker.closed,
                claimed=worker.claimed,
                slots=worker.slots,
                leased=held[worker.id, "leased"],
                offered=held[worker.id, "offered"],
                ghosts=held[worker.id, "ghost"],
            )
            for worker in workers
        ),
    )


def _account(view: AccountView, book: DayBook | None, now: float) -> AccountState:
    return AccountState(
        name=view.name,
        open=view.open,
        in_flight=view.in_flight,
        concurrency=view.concurrency,
        held_usd=(book.held if book else 0) / MICRO,
        spent_usd=(book.spent if book else 0) / MICRO,
        budget_usd=view.budget / MICRO,
        cooling_until=view.cooling_until if view.cooling_until > now else None,
    )


def _nodes(config: Config, claims: Iterable[Claim], flags: Iterable[Flag]) -> tuple[NodeDocument, ...]:
    claimed: dict[str, set[NodeState]] = {}
    for claim in claims:
        for node in claim.nodes:
            claimed.setdefault(node, set()).add(_STATES[claim.phase])
    flagged = {flag.name for flag in flags if flag.kind == "node"}
    return tuple(
        NodeDocument(
            name=name,
            rack=node.rack,
            nvlink_domain=node.nvlink_domain,
            state=_node_state(claimed.get(name, set()), name in flagged),
            pools=tuple(sorted(_pools_on(config, name))),
        )
        for name, node in config.nodes.items()
    )


def _node_state(claimed: set[NodeState], flagged: bool) -> NodeState:
    for state in _STRONGEST:
        if state in claimed:
            return state
    return "flagged" if flagged else "open"


def _pools_on(config: Config, node: str) -> Iterator[str]:
    for name, pool in config.pools.items():
        if isinstance(pool, OnPremPool) and any(worker.node == node for worker in pool.workers):
            yield name


def _claim_alarms(claims: Iterable[Claim]) -> Iterator[Alarm]:
    for claim in claims:
        if claim.overdue:
            yield Alarm(
                "claim_overdue", claim.id, f"{claim.owner} holds {', '.join(claim.nodes)} past its end"
            )
        if claim.alarm:
            yield Alarm("claim_alarm", claim.id, claim.alarm)


def _ghost_alarms(pictures: Mapping[str, PoolPicture]) -> Iterator[Alarm]:
    for pool, picture in pictures.items():
        if picture.stuck:
            message = f"pool {pool}: abandoned work is not known to have ended, so its slot stays taken"
            yield Alarm("ghost_stuck", picture.stuck, message)
