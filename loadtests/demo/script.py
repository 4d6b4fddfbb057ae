"""What will be asked for, and when: the whole traffic of a scene, made from a seed before it begins.

Most requests are short and impatient. Some are long and patient (class `batch`): a set of them comes right
before the claim, so that work is running there that outlasts the grace.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

SIZE = 512
WARM_UP = 0.28
"""The share of the traffic that has been sent when the claim comes."""
GIVEN_BACK = 0.6
"""The share of the traffic after which the nodes may be given back."""
BATCH_S, BATCH_LEAD_S, BATCH_SHARE = 2.2, 0.1, 0.7
"""The set of long requests: how long it takes to come, how long before the claim it ends, how dense it is."""
LONG_STEPS = 36
LONG_SHARE, LONG_UNTIL = 0.0125, 0.8
"""Besides the set: one in eighty is long, but none at the end, where it would only be waited for."""
KINDS = ((5, "interactive"), (6, "interactive"), (8, "interactive"), (8, "standard"))
WEIGHTS = (45, 30, 10, 15)


@dataclass(frozen=True, slots=True)
class Order:
    """One request for one image, `at_s` after the traffic began."""

    number: int
    at_s: float
    replica: int
    prompt: str
    seed: int
    steps: int
    request_class: str

    @property
    def is_long(self) -> bool:
        return self.steps == LONG_STEPS


@dataclass(frozen=True, slots=True)
class Script:
    """The orders of a scene, and its two cues: seconds after the traffic began."""

    orders: tuple[Order, ...]
    claim_at_s: float
    release_at_s: float
    ends_at_s: float


def written(prompts: Sequence[str], images: int, rate: float, seed: int, replicas: int) -> Script:
    """A fixed rate from the first to the last order, replicas in turn. Equal arguments give equal scripts."""
    rng = random.Random(f"demo:{seed}")
    shuffled = rng.sample(list(prompts), len(prompts))
    ends_at = images / rate
    claim_at = WARM_UP * ends_at
    orders = []
    for number in range(images):
        at = number / rate
        steps, request_class = _kind(rng, number / images, at - claim_at)
        prompt, own_seed = shuffled[number % len(shuffled)], rng.randrange(1, 2**31)
        orders.append(Order(number, at, number % replicas, prompt, own_seed, steps, request_class))
    return Script(tuple(orders), claim_at, GIVEN_BACK * ends_at, ends_at)


def _kind(rng: random.Random, progress: float, after_claim_s: float) -> tuple[int, str]:
    chosen: tuple[int, str] = rng.choices(KINDS, WEIGHTS)[0]
    in_batch = -BATCH_S - BATCH_LEAD_S <= after_claim_s < -BATCH_LEAD_S
    share = BATCH_SHARE if in_batch else LONG_SHARE * (progress < LONG_UNTIL)
    return (LONG_STEPS, "batch") if rng.uniform(0, 1) < share else chosen
