"""Whatever is in an event, the number of series is bounded by the configuration (failure row S21)."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.images import Flaw
from router.api.refusals import TABLE
from router.telemetry import events as e
from router.telemetry.instruments import Instruments
from router.telemetry.labels import CODES, NONE, OTHER, REASONS, WHYS, Labels
from tests.repo.tree import modules, text
from tests.telemetry.scenes import LABELS

word = st.text(max_size=12)
number = st.floats(0, 1e6)
events = st.one_of(
    st.builds(e.Admitted, word, word, word, word, word),
    st.builds(e.Refused, word, st.integers(), word, word),
    st.builds(e.Decided, word, word, word, word, word, st.integers(), word, number),
    st.builds(e.Queued, word, word, st.integers()),
    st.builds(e.Leased, word, word, word, number, st.booleans()),
    st.builds(e.Denied, word, word),
    st.builds(
        e.AttemptEnded,
        word,
        word,
        word,
        word,
        word,
        word,
        word | st.none(),
        word,
        number,
        st.integers(0, 9),
        word,
    ),
    st.builds(e.Spilled, word, word, word),
    st.builds(e.Held, word, st.integers(0)),
    st.builds(e.Settled, word, st.integers(0), st.integers(0)),
    st.builds(
        e.Answered,
        word,
        word,
        word,
        word,
        st.integers(),
        number,
        number,
        st.integers(),
        st.integers(0, 9),
        word,
        word,
    ),
    st.builds(e.ClaimMoved, word, word, word, st.integers(), number),
    st.builds(e.FlagMoved, word, word, st.booleans()),
    st.builds(e.WorkerMoved, word, word, st.booleans()),
    st.builds(e.GhostsEnded, word, word, st.integers(0)),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events, max_size=40))
def test_label_values_are_words_of_the_deployment(stream: list[e.Event]) -> None:
    instruments = Instruments(LABELS)
    for event in stream:
        instruments.record(event)
    for one in (*instruments.counters, *instruments.distributions):
        for labels, _ in one.read():
            for label, value in labels.items():
                assert value in {*LABELS.of(label), OTHER, NONE}


def test_a_flood_of_strange_words_makes_a_handful_of_series() -> None:
    instruments = Instruments(LABELS)
    for n in range(10_000):
        instruments.record(e.Admitted(f"j{n}", f"r{n}", f"tenant-{n}", f"model-{n}", f"class-{n}"))
        instruments.record(e.Denied(f"pool-{n}", f"why-{n}"))
        instruments.record(
            e.Answered("j", f"t{n}", f"m{n}", "onprem", n, 1.0, 0.0, 1, 1, f"c{n}", f"code-{n}")
        )
    assert all(len(list(one.read())) < 40 for one in (*instruments.counters, *instruments.distributions))


def test_every_label_of_every_metric_has_a_list() -> None:
    instruments = Instruments(LABELS)
    for one in (*instruments.counters, *instruments.distributions):
        assert all(LABELS.of(label) is not None for label in one.spec.labels)
        assert one.spec.help.endswith(".")
        assert len(set(one.spec.labels)) == len(one.spec.labels)


@pytest.mark.parametrize(("value", "shown"), [("acme", "acme"), ("", NONE), ("evil\n", OTHER)])
def test_unknown_words_are_other_and_empty_ones_none(value: str, shown: str) -> None:
    assert LABELS.bounded("tenant", value) == shown
    assert Labels().bounded("tenant", "acme") == OTHER


def literals(folder: str, *calls: str) -> Counter[str]:
    """The string literals that are arguments of these calls, or choices of a conditional in one."""
    found: Counter[str] = Counter()
    for path in modules("router", "providers"):
        if not path.is_relative_to(folder):
            continue
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in calls:
                found.update(
                    part.value
                    for argument in node.args
                    for part in ast.walk(argument)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
    return found


def test_the_reasons_of_the_policy_are_known_words() -> None:
    tree = ast.parse(text("router/policy/step.py"))
    why = next(node for node in ast.walk(tree) if getattr(node, "name", "") == "_why_spilled")
    spilled = {
        part.value for part in ast.walk(why) if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    reasons = set(literals("router/policy", "Try", "Wait", "Stop")) | spilled
    assert reasons - {""} <= REASONS
    assert len(reasons) > 8


def test_the_codes_of_the_dialects_are_known_words() -> None:
    codes = {code for code in literals("providers", "Failed") if code.isidentifier()}
    assert codes <= CODES
    assert len(codes) > 15


def test_the_codes_and_statuses_of_the_edge_are_known_words() -> None:
    assert set(TABLE) <= CODES
    assert {str(kind.status) for kind in TABLE.values()} <= LABELS.of("status")


def test_the_flaws_of_images_are_known_words() -> None:
    assert set(Flaw) <= CODES


def test_the_store_refuses_with_known_words() -> None:
    lua = [text(f"router/store/lua/{name}.lua") for name in ("acquire", "hold")]
    denied = {
        line.split("'")[3]
        for source in lua
        for line in source.splitlines()
        if "{'denied', '" in line and not line.startswith("--")
    }
    assert denied
    assert denied <= WHYS
