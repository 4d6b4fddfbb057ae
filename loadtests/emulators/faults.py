"""Faults that can be switched while a server runs.

A fault is data: a kind, how often it still applies, an optional part of the prompt that it waits for, and
parameters. What a kind does stands in a *stage*, a table from kind to a function that changes one value (a
reply, a service plan, a list of pictures). An emulator passes each value through the stage of that moment
and then follows the value, so it has no branch per fault. Instant kinds act at the moment they are switched
on and are not kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Params = Mapping[str, Any]
Change = Callable[[T, Params], T]
Stage = Mapping[str, Change[T]]
Instant = Callable[[Params], Awaitable[None]]
Spec = Mapping[str, Any]


@dataclass
class Fault:
    """One entry of the list; `times` counts down to nought, -1 stays."""

    kind: str
    times: int = 1
    match_prompt: str | None = None
    params: Params = field(default_factory=dict)

    def matches(self, prompt: str) -> bool:
        return self.times != 0 and (self.match_prompt is None or self.match_prompt in prompt)

    def spend(self) -> None:
        if self.times > 0:
            self.times -= 1

    def shown(self) -> dict[str, Any]:
        return {"kind": self.kind, "times": self.times, "match_prompt": self.match_prompt, **self.params}


class FaultBoard:
    """The faults of one server."""

    def __init__(self, stages: Iterable[Stage[Any]], instants: Mapping[str, Instant] | None = None) -> None:
        self._instants = dict(instants or {})
        self._kinds = {kind for stage in stages for kind in stage} | set(self._instants)
        self._active: list[Fault] = []
        self._replaced = asyncio.Event()

    def apply(self, stage: Stage[T], prompt: str, value: T, at: str | None = None) -> T:
        """The value after every active fault of this stage that waits for such a prompt.

        `at` is for stages shared by several endpoints: a fault applies where its `on` parameter says
        (`submit` unless given).
        """
        for fault in self._active:
            here = at is None or fault.params.get("on", "submit") == at
            if here and fault.kind in stage and fault.matches(prompt):
                fault.spend()
                value = stage[fault.kind](value, fault.params)
        return value

    def read(self, specs: Iterable[Spec]) -> list[Fault]:
        """Faults from their JSON form; ValueError names what is wrong."""
        return [self._read(spec) for spec in specs]

    def install(self, faults: Iterable[Fault]) -> list[Fault]:
        """Replace all lasting faults; returns the instant ones, which the caller passes to `act`."""
        chosen = list(faults)
        self._active = [fault for fault in chosen if fault.kind not in self._instants]
        self._replaced.set()
        self._replaced = asyncio.Event()
        return [fault for fault in chosen if fault.kind in self._instants]

    async def act(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            await self._instants[fault.kind](fault.params)

    async def set(self, *specs: Spec) -> None:
        """Replace all faults by these; no arguments clears them."""
        await self.act(self.install(self.read(specs)))

    @property
    def replacement(self) -> asyncio.Event:
        """Set when the present list is replaced: lets a hanging request go. Take it before `apply`."""
        return self._replaced

    def shown(self) -> list[dict[str, Any]]:
        return [fault.shown() for fault in self._active if fault.times != 0]

    def _read(self, spec: Spec) -> Fault:
        params = dict(spec)
        kind, times = params.pop("kind", None), params.pop("times", 1)
        if kind not in self._kinds:
            raise ValueError(f"unknown fault kind {kind!r}; known: {', '.join(sorted(self._kinds))}")
        if not isinstance(times, int):
            raise ValueError(f"times of {kind} must be an integer, not {times!r}")
        return Fault(kind, times, params.pop("match_prompt", None), params)
