"""Any sequence of calls on one pool against its twin, and the invariants of the raw keys after each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import hypothesis.strategies as st
import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from router.store import keys, scripts
from tests.conftest import Valkey
from tests.store import raw
from tests.store.twin import FAR, PAST, Ticket, Twin

POOL = keys.pool("p")
SCRIPTS = scripts.load()
WORKERS = {"w1": "n1", "w2": "n1", "w3": "n2"}
TICKETS = ["t1", "t2", "t3", "t4", "t5", "t6"]
HOUR = 3_600_000
SHORT, LONG = 1_000, 10 * HOUR

workers = st.sampled_from(sorted(WORKERS))
tickets = st.sampled_from(TICKETS)
replicas = st.sampled_from(["r1", "r2"])
claims = st.sampled_from(["c1", "c2"])
lanes = st.sampled_from(["a", "b"])
nodes = st.sampled_from(["n1", "n2"])
gangs = st.sampled_from([("n1",), ("n2",), ("n1", "n2")])


def pick(data: st.DataObject, options: Sequence[Any]) -> Any:
    """One of the options, drawn by its number: the server's names differ from run to run."""
    return options[data.draw(st.integers(0, 999)) % len(options)]


class PoolMachine(RuleBasedStateMachine):
    client: redis.Redis

    @initialize(
        slots=st.tuples(*[st.sampled_from([1, 2, 0])] * 3),
        serves=st.tuples(*[st.sampled_from([("a", "b"), ("a",), ("b",), ("b", "a")])] * 3),
    )
    def open(self, slots: tuple[int, ...], serves: tuple[tuple[str, ...], ...]) -> None:
        self.client.flushdb()
        self.twin = Twin()
        self.before: dict[str, int] = {}
        self.calls = 0
        self.repeat: Callable[[], None] | None = None
        self.call("pool_open", "1", HOUR, HOUR, HOUR, HOUR)
        self.began = raw.dump(self.client)
        for worker, count, lanes_of in zip(WORKERS, slots, serves, strict=True):
            self.puts(worker, count, lanes_of)
            self.probed(worker, up=True, idle=False, boot="x")
        for replica in ("r1", "r2"):
            self.tends(replica)

    def call(self, name: str, *args: str | int) -> Any:
        script = SCRIPTS[name]
        try:
            return self.client.evalsha(script.sha, len(POOL), *POOL, *args)
        except redis.exceptions.NoScriptError:
            return self.client.eval(script.text, len(POOL), *POOL, *args)

    def does(self, step: Callable[[], None]) -> None:
        self.repeat = step
        step()

    def lease_ids(self) -> list[str]:
        return [*sorted(self.twin.leases), *sorted(self.twin.tombs)[:8]]

    # ---------------------------------------------------------------------------------------- tickets

    @rule(
        ticket=tickets,
        replica=replicas,
        lane=lanes,
        rank=st.integers(1, 4),
        long=st.booleans(),
        doomed=st.sampled_from([False, False, False, True]),
        preferred=st.sampled_from([(), (), ("w3",), ("w2", "w1")]),
        avoid=st.sampled_from([(), (), ("w1",), ("w1", "w3")]),
        queue=st.sampled_from([True, True, True, False]),
    )
    def acquire(
        self,
        ticket: str,
        replica: str,
        lane: str,
        rank: int,
        long: bool,
        doomed: bool,
        preferred: tuple[str, ...],
        avoid: tuple[str, ...],
        queue: bool,
    ) -> None:
        self.asks(
            ticket,
            replica,
            lane,
            rank,
            long=long,
            doomed=doomed,
            preferred=preferred,
            avoid=avoid,
            queue=queue,
        )

    def asks(
        self,
        ticket: str,
        replica: str,
        lane: str,
        rank: int,
        *,
        long: bool = False,
        doomed: bool = False,
        preferred: tuple[str, ...] = (),
        avoid: tuple[str, ...] = (),
        queue: bool = True,
    ) -> None:
        self.calls += 1
        lease = f"l{self.calls:03}"
        need = LONG if long else SHORT

        def step() -> None:
            own = [key for key, it in self.twin.leases.items() if it.ticket == ticket and not it.let_go]
            if any(key != lease and self.twin.leases[key].state != "offered" for key in own):
                # its owner releases it first
                return
            deadline = int(self.began.now) + (-1 if doomed else 20 * HOUR)
            lists = ("|".join(preferred), "|".join(avoid))
            times = (rank, need, 20 * HOUR, deadline)
            reply = self.call("acquire", replica, ticket, lease, lane, *times, int(queue), *lists)
            ask = Ticket(replica, lane, rank, long, need, doomed, avoid)
            expected = self.twin.acquire(ticket, lease, ask, preferred=preferred, queue=queue)
            assert tuple(str(part) for part in reply[: len(expected)]) == expected

        self.does(step)

    @rule(data=st.data(), rank=st.integers(1, 4), lane=lanes)
    def asks_plainly(self, data: st.DataObject, rank: int, lane: str) -> None:
        held = {it.ticket for it in self.twin.leases.values() if not it.let_go}
        idle = [name for name in TICKETS if name not in held]
        self.asks(pick(data, idle or TICKETS), "r1", lane, rank)

    @precondition(lambda self: any(it.state == "offered" for it in self.twin.leases.values()))
    @rule(data=st.data())
    def takes_an_offer(self, data: st.DataObject) -> None:
        offers = sorted((it.replica, it.ticket) for it in self.twin.leases.values() if it.state == "offered")
        self.accepts(*pick(data, offers))

    def accepts(self, replica: str, ticket: str) -> None:
        def step() -> None:
            reply = self.call("accept", replica, ticket)
            assert (reply[0], *reply[2:3]) == self.twin.accept(replica, ticket)

        self.does(step)

    @precondition(lambda self: self.twin.tickets)
    @rule(data=st.data())
    def gives_up(self, data: st.DataObject) -> None:
        self.leaves(pick(data, sorted(self.twin.tickets)))

    def leaves(self, ticket: str) -> None:
        def step() -> None:
            assert self.call("leave", ticket)[0] == self.twin.leave(ticket)

        self.does(step)

    @rule(replica=replicas)
    def tend(self, replica: str) -> None:
        self.tends(replica)

    def tends(self, replica: str) -> None:
        def step() -> None:
            _, _, offered, _ = self.call("tend", replica, "-1")
            assert set(filter(None, offered.split("|"))) == self.twin.tend(replica)

        self.does(step)

    # ----------------------------------------------------------------------------------------- leases

    @precondition(lambda self: self.twin.leases)
    @rule(data=st.data(), ended=st.sampled_from(["yes", "yes", "unknown"]))
    def ends(self, data: st.DataObject, ended: str) -> None:
        self.releases(pick(data, sorted(self.twin.leases)), ended)

    def releases(self, lease: str, ended: str) -> None:
        def step() -> None:
            assert self.call("release", lease, ended) == self.twin.release(lease, ended)

        self.does(step)

    def renews(self, replica: str, chosen: list[str]) -> None:
        def step() -> None:
            assert self.call("renew", replica, *chosen) == [self.twin.renew(replica, it) for it in chosen]

        self.does(step)

    @rule(data=st.data())
    def somebody_is_late(self, data: st.DataObject) -> None:
        """A call that makes no sense any more, or not yet."""
        draw = data.draw
        known = [*sorted(self.twin.leases), *sorted(self.twin.tombs)[:8], f"l{self.calls + 1:03}"]
        match draw(st.sampled_from(["accept", "leave", "release", "renew", "renew", "unblock"])):
            case "accept":
                self.accepts(draw(replicas), draw(tickets))
            case "leave":
                self.leaves(draw(tickets))
            case "release":
                self.releases(pick(data, known), draw(st.sampled_from(["yes", "unknown"])))
            case "renew":
                self.renews(draw(replicas), [pick(data, known) for _ in range(draw(st.integers(0, 3)))])
            case "unblock":
                self.unblocks(draw(claims), draw(gangs))

    @precondition(lambda self: self.twin.leases)
    @rule(data=st.data())
    def time_is_up(self, data: st.DataObject) -> None:
        """The lease, offer or ghost is past its time: the next call that reaps will see it."""
        lease = pick(data, sorted(self.twin.leases))
        self.client.zadd(POOL[keys.POOL.index("expiry")], {lease: 1}, xx=True)
        self.twin.leases[lease].due = True

    # ---------------------------------------------------------------------------------------- workers

    @rule(worker=workers, idle=st.booleans(), boot=st.sampled_from(["", "x", "x", "y"]))
    def is_probed(self, worker: str, idle: bool, boot: str) -> None:
        self.probed(worker, up=True, idle=idle, boot=boot)

    def probed(self, worker: str, *, up: bool, idle: bool, boot: str) -> None:
        def step() -> None:
            before = raw.dump(self.client)
            record = before.workers.get(worker, {})
            reborn = boot and record.get("boot") and record["boot"] != boot
            gone = record.get("seen", 0) if reborn else 0
            reply = self.call("worker_seen", worker, int(up), int(before.now) + HOUR if idle else 0, boot)
            proved = {name for name, it in before.leases.items() if idle or it["since"] <= gone}
            assert reply[0] == self.twin.seen(worker, up=up, proved=proved)
            self._next_millisecond()

        self.does(step)

    def _next_millisecond(self) -> None:
        """What is granted from here on is younger than the probe, on every run."""
        now = self.client.time()
        while self.client.time()[1] // 1000 == now[1] // 1000:
            pass

    def puts(self, worker: str, slots: int, serves: tuple[str, ...]) -> None:
        node = WORKERS[worker]

        def step() -> None:
            reply = self.call("worker_put", worker, node, "http://x", slots, "|".join(serves), 0, "test")
            assert reply == self.twin.put(worker, node, slots, serves)

        self.does(step)

    def drops(self, worker: str) -> None:
        def step() -> None:
            assert self.call("worker_drop", worker) == self.twin.drop(worker)

        self.does(step)

    # --------------------------------------------------------------------------- the operator and the fleet

    @rule(data=st.data())
    def something_changes(self, data: st.DataObject) -> None:
        """Trouble and its end: what is already closed is more often opened than joined by more."""
        ends = self.ways_out()
        if ends and data.draw(st.integers(0, 2)):
            pick(data, ends)()
            return
        draw = data.draw
        match draw(st.sampled_from(["block", "put", "flag", "drop", "down", "close", "silent"])):
            case "block":
                self.blocks(draw(claims), draw(gangs), draw(st.sampled_from([PAST, FAR])))
            case "put":
                served = draw(st.sampled_from([("a", "b"), ("a",), ("b",)]))
                self.puts(draw(workers), draw(st.sampled_from([1, 2, 0])), served)
            case "flag":
                self.flags(draw(nodes), off=True)
            case "drop":
                self.drops(draw(workers))
            case "down":
                self.probed(draw(workers), up=False, idle=False, boot="")
            case "close":
                self.closes_pool(off=True)
            case "silent":
                replica = draw(replicas)
                self.client.zadd(POOL[keys.POOL.index("replicas")], {replica: 1}, xx=True)
                self.twin.listening.discard(replica)

    def ways_out(self) -> list[Callable[[], None]]:
        twin = self.twin
        found: list[Callable[[], None]] = []
        for name, node in twin.nodes.items():
            found += [partial(self.unblocks, claim, (name,)) for claim in node.claims]
            found += [partial(self.flags, name, off=False)] * node.flag
        for name in WORKERS:
            if name not in twin.workers or twin.workers[name].drain or not twin.workers[name].slots:
                found.append(partial(self.puts, name, 1, ("a", "b")))
            elif not twin.workers[name].up:
                found.append(partial(self.probed, name, up=True, idle=False, boot=""))
        if twin.closed:
            found.append(partial(self.closes_pool, off=False))
        found += [partial(self.tends, name) for name in ("r1", "r2") if name not in twin.listening]
        return found

    def blocks(self, claim: str, gang: tuple[str, ...], closes: int) -> None:
        notice = 0 if closes == PAST else 5 * HOUR

        def step() -> None:
            assert self.call("node_block", claim, notice, 9 * HOUR, *gang) == self.twin.block(
                claim, closes, gang
            )

        self.does(step)

    def unblocks(self, claim: str, gang: tuple[str, ...]) -> None:
        def step() -> None:
            assert self.call("node_unblock", claim, *gang) == self.twin.unblock(claim, gang)

        self.does(step)

    def flags(self, node: str, *, off: bool) -> None:
        def step() -> None:
            assert self.call("node_flag", node, int(off)) == "ok"
            self.twin.flag(node, off=off)

        self.does(step)

    def closes_pool(self, *, off: bool) -> None:
        def step() -> None:
            assert self.call("pool_flag", int(off)) == "ok"
            self.twin.closed = off

        step()
        self.tends("r1")

    # -------------------------------------------------------------------------------------- and again

    @rule()
    def the_last_call_comes_twice(self) -> None:
        if self.repeat is not None:
            self.repeat()

    @invariant()
    def keys_and_twin_agree(self) -> None:
        if not hasattr(self, "twin"):
            return
        seen = raw.dump(self.client)
        self._learn_ids(seen)
        twin = self.twin
        assert {it for *_, it in seen.places()} == twin.queue
        assert {member.split("\0")[1] for member in seen.parked} == twin.parked
        assert {name: (it["state"], it.get("lease")) for name, it in seen.tickets.items()} == {
            name: (it.state, it.lease) for name, it in twin.tickets.items()
        }
        assert {
            name: (it["worker"], it["ticket"], it["replica"], it["state"], it.get("let_go", False))
            for name, it in seen.leases.items()
        } == {
            name: (it.worker, it.ticket, it.replica, it.state, it.let_go) for name, it in twin.leases.items()
        }
        assert {name for name, score in seen.expiry.items() if score == 1} == {
            name for name, it in twin.leases.items() if it.due
        }
        raw.check(seen, over=self.before)
        self.before = {name: len(seen.held(name)) for name in twin.workers}

    def _learn_ids(self, seen: raw.Dump) -> None:
        """The server names its offers; the twin learns the names from the tickets that have them."""
        for name, ticket in self.twin.tickets.items():
            real = seen.tickets.get(name, {}).get("lease")
            if ticket.lease is not None and ticket.lease.startswith("offer ") and real is not None:
                self.twin.leases[real] = self.twin.leases.pop(ticket.lease)
                ticket.lease = real
        self.twin.tombs = {it for it in self.twin.tombs if not it.startswith("offer ")}


@pytest.fixture
def client(valkey: Valkey, redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as opened:
        yield opened


@pytest.mark.timeout(150)
def test_any_sequence_of_calls(client: redis.Redis) -> None:
    class Machine(PoolMachine):
        pass

    Machine.client = client
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=300,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
            report_multiple_bugs=False,
            phases=[Phase.generate],  # add Phase.shrink to understand a failure: it takes minutes
        ),
    )
