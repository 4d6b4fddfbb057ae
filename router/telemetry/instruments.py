"""From events to numbers: the one list of counters and distributions, and the one mapping to them."""

from __future__ import annotations

from typing import assert_never

from router.telemetry import events as e
from router.telemetry.counting import LATENCY_S, WAIT_S, Counter, Distribution, Spec
from router.telemetry.labels import Labels

MICRO = 1e-6


class Instruments:
    """Everything that is counted. `record` is called for each event; all else is called by a scrape."""

    def __init__(self, labels: Labels) -> None:
        self.counters: list[Counter] = []
        self.distributions: list[Distribution] = []
        self._labels = labels
        self._requests()
        self._capacity()
        self._attempts()
        self._control()

    def record(self, event: e.Event) -> None:
        """Counts one event. The frequent ones come first."""
        match event:
            case e.Decided():
                self._decisions.add(1, event.kind, event.reason)
            case e.AttemptEnded():
                self._attempt_ended(event)
            case e.Answered():
                self._answered(event)
            case e.Admitted():
                self._admitted.add(1, event.tenant, event.model, event.request_class)
            case e.Leased():
                self._leases.add(1, event.pool, "offered" if event.offered else "free")
                self._slot_wait.add(event.waited_s, event.pool)
            case e.Queued() | e.Denied() | e.Refused():
                self._turned_away(event)
            case e.Spilled() | e.Held() | e.Settled():
                self._paid(event)
            case _:
                self._controlled(event)

    def _turned_away(self, event: e.Queued | e.Denied | e.Refused) -> None:
        match event:
            case e.Queued():
                self._queued.add(1, event.pool)
            case e.Denied():
                self._denials.add(1, event.pool, event.why)
            case e.Refused():
                self._refused.add(1, event.tenant, event.code)

    def _paid(self, event: e.Spilled | e.Held | e.Settled) -> None:
        match event:
            case e.Spilled():
                self._spills.add(1, event.pool, event.model, event.reason)
            case e.Held():
                self._cost_held.add(event.micro_usd * MICRO, event.account)
            case e.Settled():
                self._cost.add(event.micro_usd * MICRO, event.account)

    def _controlled(
        self,
        event: e.ClaimMoved
        | e.FlagMoved
        | e.WorkerMoved
        | e.GhostsEnded
        | e.LeadershipMoved
        | e.StoreLost
        | e.LoopLagged,
    ) -> None:
        match event:
            case e.ClaimMoved():
                self._claim_moves.add(1, event.phase)
                self._claim_phase.add(event.seconds, event.phase)
            case e.FlagMoved():
                self._flag_moves.add(1, event.kind, "on" if event.on else "off")
            case e.WorkerMoved():
                self._worker_moves.add(1, event.pool, "up" if event.up else "down")
            case e.GhostsEnded():
                self._ghosts.add(event.count, event.pool)
            case e.LeadershipMoved():
                self._leadership.add(1, "on" if event.leads else "off")
            case e.StoreLost():
                self._store_losses.add(1)
            case e.LoopLagged():
                self._loop_lag.add(event.seconds)
            case _:
                assert_never(event)

    def _attempt_ended(self, event: e.AttemptEnded) -> None:
        self._attempts_made.add(1, event.pool, event.place, event.model, event.fault or "")
        self._attempt_time.add(event.seconds, event.pool, event.model)
        if event.images:
            self._images.add(event.images, event.pool, event.model)
        if event.fault is not None:
            self._failures.add(1, event.pool, event.code)
            if event.worker:
                self._worker_failures.add(1, event.pool, event.worker)
        if event.cut:
            self._cuts.add(1, event.pool)

    def _answered(self, event: e.Answered) -> None:
        self._answers.add(1, event.tenant, event.model, event.route, str(event.status))
        self._request_time.add(event.seconds, event.model, event.request_class, event.route)
        self._queue_time.add(event.queued_s, event.model, event.route)
        if event.images:
            self._delivered.add(event.images, event.tenant, event.model, event.route)
        if event.code != "done":
            self._unanswered.add(1, event.tenant, event.code)

    def _requests(self) -> None:
        counter, distribution = self._counter, self._distribution
        self._answers = counter(
            "requests",
            "1",
            "Tickets answered, by the HTTP status of the answer.",
            "tenant",
            "model",
            "route",
            "status",
        )
        self._admitted = counter(
            "requests.admitted", "1", "Requests that became a ticket.", "tenant", "model", "class"
        )
        self._refused = counter(
            "requests.refused", "1", "Requests answered before they became a ticket.", "tenant", "code"
        )
        self._unanswered = counter(
            "requests.failed", "1", "Tickets that ended without all their images.", "tenant", "code"
        )
        self._delivered = counter(
            "images.delivered", "1", "Images given to clients.", "tenant", "model", "route"
        )
        self._request_time = distribution(
            "request.duration", "s", "From arrival to answer.", LATENCY_S, "model", "class", "route"
        )
        self._queue_time = distribution(
            "request.queue.duration",
            "s",
            "Time a ticket held no slot, over all its attempts.",
            WAIT_S,
            "model",
            "route",
        )
        self._decisions = counter("decisions", "1", "Steps the policy asked for.", "step", "reason")

    def _capacity(self) -> None:
        counter, distribution = self._counter, self._distribution
        self._queued = counter("queue.entries", "1", "Places taken in a pool's queue.", "pool")
        self._leases = counter(
            "leases", "1", "Slots got, free at once or offered in the queue.", "pool", "how"
        )
        self._denials = counter(
            "denials", "1", "Slots and holds refused: lost races and limits.", "pool", "why"
        )
        self._slot_wait = distribution(
            "slot.wait.duration", "s", "From asking for a slot to having one.", WAIT_S, "pool"
        )
        self._ghosts = counter("ghosts.ended", "1", "Abandoned work that is known to be over.", "pool")

    def _attempts(self) -> None:
        counter, distribution = self._counter, self._distribution
        self._attempts_made = counter(
            "attempts",
            "1",
            "Calls to back ends that are over, by fault (none: images were made).",
            "pool",
            "place",
            "model",
            "fault",
        )
        self._attempt_time = distribution(
            "attempt.duration",
            "s",
            "From having a slot or a hold to the outcome.",
            LATENCY_S,
            "pool",
            "model",
        )
        self._failures = counter("attempt.failures", "1", "Failed attempts, by their code.", "pool", "code")
        self._worker_failures = counter(
            "worker.failures", "1", "Failed attempts of one on-prem worker.", "pool", "worker"
        )
        self._cuts = counter("attempts.cut", "1", "Attempts ended because their node was claimed.", "pool")
        self._images = counter("images.made", "1", "Images back ends made.", "pool", "model")
        self._spills = counter(
            "spills", "1", "Tickets placed on an external pool, by reason.", "pool", "model", "reason"
        )
        self._cost_held = counter("cost.held", "usd", "Money set aside before paid attempts.", "account")
        self._cost = counter(
            "cost.settled", "usd", "Money paid attempts cost, or must be assumed to.", "account"
        )

    def _control(self) -> None:
        counter, distribution = self._counter, self._distribution
        self._claim_moves = counter("claim.moves", "1", "Phases that claims entered.", "phase")
        self._claim_phase = distribution(
            "claim.phase.duration", "s", "Time a claim was in the phase before this one.", LATENCY_S, "phase"
        )
        self._flag_moves = counter("flag.moves", "1", "Operators' switches set and taken away.", "kind", "to")
        self._worker_moves = counter("worker.moves", "1", "Workers ejected and taken back.", "pool", "state")
        self._leadership = counter("leadership.moves", "1", "Leaderships this replica took and lost.", "to")
        self._store_losses = counter("store.losses", "1", "Times the store was found away.")
        self._loop_lag = counter("loop.lag", "s", "Time by which the event loop was late.")

    def _counter(self, name: str, unit: str, help: str, *labels: str) -> Counter:
        made = Counter(Spec(f"spillover.{name}", unit, help, labels), self._labels)
        self.counters.append(made)
        return made

    def _distribution(
        self, name: str, unit: str, help: str, bounds: tuple[float, ...], *labels: str
    ) -> Distribution:
        made = Distribution(Spec(f"spillover.{name}", unit, help, labels, bounds), self._labels)
        self.distributions.append(made)
        return made
