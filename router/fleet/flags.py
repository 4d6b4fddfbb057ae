"""Flags: an operator's switches on nodes, pools, providers, models and the overflow itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from router.model.claim import FLAG_KINDS, Flag
from router.store.clock import StoreClock
from router.store.control import Conflict, Control
from router.store.ledger import Ledger
from router.telemetry.events import FlagMoved, Record

TRIES = 8


class UnknownThing(Exception):
    """There is nothing of that kind and name to switch."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown {kind}: {name}")
        self.kind = kind
        self.name = name
        self.known = known


@dataclass(frozen=True, slots=True)
class Switchable:
    """What a deployment has. `nodes` says which pools have workers on a node."""

    nodes: Mapping[str, tuple[str, ...]]
    pools: tuple[str, ...]
    providers: tuple[str, ...]
    models: tuple[str, ...]

    def names(self, kind: str) -> tuple[str, ...]:
        """All names of one kind; empty for an unknown kind."""
        return {
            "node": tuple(self.nodes),
            "pool": self.pools,
            "provider": self.providers,
            "model": self.models,
            "overflow": ("overflow",),
        }.get(kind, ())


class Flags:
    """A flag is written down first and then put on the pools; the leader puts it on again until it holds."""

    def __init__(
        self, control: Control, ledger: Ledger, clock: StoreClock, things: Switchable, record: Record
    ) -> None:
        self._control = control
        self._ledger = ledger
        self._clock = clock
        self._things = things
        self._record = record

    async def all(self) -> list[Flag]:
        """All flags that stand."""
        return await self._control.flags()

    async def put(
        self, kind: str, name: str, *, reason: str, actor: str, expires_s: float | None, revision: int | None
    ) -> Flag:
        """Switches a thing off. Raises `UnknownThing`; `Conflict` if `revision` is not the standing one."""
        self._check(kind, name)
        now = self._clock.now()
        flag = Flag(
            revision=-1 if revision is None else revision,
            kind=kind,
            name=name,
            reason=reason,
            actor=actor,
            set_at=now,
            expires_at=None if expires_s is None else now + expires_s,
        )
        written = await self._control.put_flag(flag, actor=actor)
        await self._switch(kind, name)
        self._record(FlagMoved(kind, name, True))
        return written

    async def clear(self, kind: str, name: str, *, actor: str) -> None:
        """Switches it on again; nothing happens if it is on.

        Raises `UnknownThing`, but not for a flag that outlived its thing.
        """
        if await self._control.flag(f"{kind}/{name}") is None:
            self._check(kind, name)
        await self._control.drop_flag(f"{kind}/{name}", actor=actor)
        await self._switch(kind, name)
        self._record(FlagMoved(kind, name, False))

    async def sweep(self, actor: str) -> None:
        """The leader's step: expired flags go, and every switch is put as its flag says.

        The switches are read before the flags, and a flag is written before its switch: what is off without a
        flag is left over from one that was cleared.
        """
        off = await self._control.switched_off(self._things.pools)
        standing = await self._control.flags()
        now = self._clock.now()
        for flag in standing:
            if flag.expires_at is not None and flag.expires_at <= now:
                await self._expire(flag, actor)
            else:
                await self._switch(flag.kind, flag.name)
        for stray in sorted(off - {flag.id for flag in standing}):
            await self._switch(*stray.split("/", 1))

    async def _expire(self, flag: Flag, actor: str) -> None:
        try:
            await self._control.drop_flag(flag.id, actor=actor, action="flag_expired", revision=flag.revision)
        except Conflict:
            return  # it was renewed or cleared meanwhile
        await self._switch(flag.kind, flag.name)
        self._record(FlagMoved(flag.kind, flag.name, False))

    async def _switch(self, kind: str, name: str) -> None:
        """Puts the switch as the flag says now, and again if the flag was changed meanwhile."""
        stands = await self._stands(kind, name)
        for _ in range(TRIES):
            await self._apply(kind, name, off=stands)
            was, stands = stands, await self._stands(kind, name)
            if was is stands:
                return

    async def _stands(self, kind: str, name: str) -> bool:
        return await self._control.flag(f"{kind}/{name}") is not None

    def _check(self, kind: str, name: str) -> None:
        if kind not in FLAG_KINDS:
            raise UnknownThing("kind", kind, FLAG_KINDS)
        if name not in self._things.names(kind):
            raise UnknownThing(kind, name, self._things.names(kind))

    async def _apply(self, kind: str, name: str, *, off: bool) -> None:
        match kind:
            case "node":
                for pool in self._things.nodes.get(name, self._things.pools):
                    await self._control.flag_node(pool, name, off)
            case "pool" if name in self._things.pools:
                await self._control.flag_pool(name, off)
            case "provider" | "overflow":
                await self._ledger.switch(name, off)
            case _:
                return  # a model's flag is read by every replica from the flags themselves
