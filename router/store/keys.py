"""Every key there is, with its type and its bound. No other file builds a key.

A pool's keys share one hash tag, so that its scripts run on one node of a cluster; so do all of money's,
and all of control's. The order of `POOL` is the order of `KEYS` in every pool script.

| key                    | type    | holds                                    | bound                       |
|------------------------|---------|------------------------------------------|-----------------------------|
| {pool}:meta            | hash    | schema, timing, fence, revision, closed  | fixed fields                |
| {pool}:workers         | hash    | worker -> record                         | the workers of the config   |
| {pool}:nodes           | hash    | node -> flag, claims, epoch, workers     | the nodes of the config     |
| {pool}:leases          | hash    | lease -> record                          | slots                       |
| {pool}:expiry          | zset    | lease by the ms its state ends           | slots                       |
| {pool}:slots           | zset    | worker NUL lease, by bytes               | slots                       |
| {pool}:free            | zset    | lane NUL worker, by bytes                | workers x lanes (32)        |
| {pool}:queue           | zset    | lane NUL rank : need : ticket, by bytes  | waiting requests            |
| {pool}:tickets         | hash    | ticket -> lane, rank, state, lease       | waiting, offered, taken up  |
| {pool}:offers          | zset    | replica NUL lease, by bytes              | slots                       |
| {pool}:parked          | zset    | replica NUL ticket nobody listens for    | trimmed past the deadline   |
| {pool}:replicas        | zset    | replica by its last heartbeat            | trimmed after an hour       |
| {pool}:tombs           | zset    | ended lease, left ticket, by expiry      | a lease time of traffic     |
| {pool}:wake            | channel | replica and ticket of an offer           | a hint only                 |
| {money}:intents        | hash    | attempt -> account, price, day           | paid attempts in flight     |
| {money}:running        | zset    | account NUL attempt, by bytes            | paid attempts in flight     |
| {money}:expiry         | zset    | attempt by the ms it is over; ended ones | in flight, a minute's ended |
| {money}:accounts       | hash    | switches and cooldowns of accounts       | accounts of the config      |
| {money}:day:YYYY-MM-DD | hash    | held, spent, attempts per account        | TTL 40 days                 |
| {ctl}:claims           | hash    | claim -> record                          | active and the last 200     |
| {ctl}:flags            | hash    | kind/name -> record                      | things of the config        |
| {ctl}:audit            | stream  | one line a change                        | MAXLEN ~ 10,000             |
| {ctl}:meta             | hash    | revision                                 | fixed fields                |
| {ctl}:leader           | string  | the replica with the control loops       | TTL of its lease            |
"""

from __future__ import annotations

SCHEMA = "1"
PREFIX = "spill:v1"

POOL = (
    "meta",
    "workers",
    "nodes",
    "leases",
    "expiry",
    "slots",
    "free",
    "queue",
    "tickets",
    "offers",
    "parked",
    "replicas",
    "tombs",
)


def pool(name: str) -> tuple[str, ...]:
    """The keys of one pool, in the order its scripts expect."""
    return tuple(f"{PREFIX}:{{pool:{name}}}:{part}" for part in POOL)


def wake_channel(name: str) -> str:
    """Where a pool tells replicas of new offers (`replica|ticket`)."""
    return f"{PREFIX}:{{pool:{name}}}:wake"


def money(part: str) -> str:
    """One key of the money tag: `intents`, `running`, `expiry` or `accounts`."""
    return f"{PREFIX}:{{money}}:{part}"


def ledger(day: str) -> str:
    """The ledger of one UTC day (`YYYY-MM-DD`)."""
    return f"{PREFIX}:{{money}}:day:{day}"


def control(part: str) -> str:
    """One key of the control tag: `claims`, `flags`, `audit`, `meta` or `leader`."""
    return f"{PREFIX}:{{ctl}}:{part}"
