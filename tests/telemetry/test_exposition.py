"""What `/metrics` says is well-formed, explained, and what the page of metrics promises."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from router.telemetry.catalogue import page, prometheus_name, specs
from router.telemetry.events import AttemptEnded
from router.telemetry.gauges import AccountNow, PoolNow
from router.telemetry.labels import Labels
from router.telemetry.otel import Telemetry, open_telemetry
from tests.repo.tree import text
from tests.telemetry.scenes import EVENTS, GAUGES, LABELS
from tests.telemetry.scraping import sample, samples


def everything(telemetry: Telemetry) -> str:
    for event in EVENTS:
        telemetry.record(event)
    telemetry.set_gauges(replace(GAUGES, taken_at=time.monotonic()))
    return telemetry.prometheus().decode()


@pytest.fixture
def scrape() -> str:
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        return everything(telemetry)


def test_every_family_parses_and_has_help(scrape: str) -> None:
    families = list(text_string_to_metric_families(scrape))
    assert [family.name for family in families if not family.documentation] == []
    assert len(families) == len({family.name for family in families})


def test_the_page_is_what_a_scrape_shows(scrape: str) -> None:
    shown = {}
    for family in text_string_to_metric_families(scrape):
        if family.name.startswith("spillover_"):
            labels = {label for one in family.samples for label in one.labels} - {"le"}
            name = f"{family.name}_total" if family.type == "counter" else family.name
            shown[name] = (family.type, labels, family.documentation)
    promised = {prometheus_name(spec, kind): (kind, set(spec.labels), spec.help) for spec, kind in specs()}
    assert shown == promised


def test_the_page_in_docs_is_up_to_date() -> None:
    assert text("docs/metrics.md") == page(), "run: python -m router.telemetry.catalogue > docs/metrics.md"


def test_no_series_carries_the_name_of_the_library(scrape: str) -> None:
    assert "otel_scope" not in scrape
    assert 'target_info{service_instance_id="r1",service_name="spillover"' in scrape


def test_series_with_few_words_are_there_from_the_start() -> None:
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        shown = samples(telemetry)
    assert shown[sample("spillover_store_losses_total")] == 0
    assert shown[sample("spillover_attempts_cut_total", pool="home")] == 0
    assert not any(name == "spillover_requests_total" for name, _ in shown)


def test_gauges_show_the_latest_picture() -> None:
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        everything(telemetry)
        first = samples(telemetry)
        gone = replace(GAUGES, taken_at=time.monotonic(), pools={"b": PoolNow(waiting=2)}, accounts={})
        telemetry.set_gauges(gone)
        second = samples(telemetry)
    states = {"free": 1, "leased": 2, "offered": 1, "ghosts": 1, "closed": 4}
    assert {state: first[sample("spillover_slots", pool="home", state=state)] for state in states} == states
    assert first[sample("spillover_queue_length", pool="home")] == 3
    assert first[sample("spillover_account_committed_usd", account="fal")] == 1.5
    assert first[sample("spillover_account_budget_usd", account="fal")] == 50
    assert first[sample("spillover_account_cooling", account="fal")] == 1
    assert first[sample("spillover_claims", phase="held")] == 1
    assert sample("spillover_queue_length", pool="home") not in second
    assert second[sample("spillover_queue_length", pool="b")] == 2


def test_a_picture_grows_old_when_nobody_takes_a_new_one() -> None:
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        assert not any(name == "spillover_snapshot_age_seconds" for name, _ in samples(telemetry))
        telemetry.set_gauges(replace(GAUGES, taken_at=time.monotonic() - 60, accounts={"a": AccountNow()}))
        assert 60 <= samples(telemetry)[sample("spillover_snapshot_age_seconds")] < 90


@pytest.mark.parametrize("preference", ["base2_exponential_bucket_histogram", "explicit_bucket_histogram"])
def test_no_variable_breaks_a_scrape(monkeypatch: pytest.MonkeyPatch, preference: str) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", preference)
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        everything(telemetry)
        assert sample("spillover_slot_wait_duration_seconds_count", pool="home") in samples(telemetry)


def test_scrapes_at_the_same_time_do_not_mix() -> None:
    with open_telemetry("spillover", 1.0, "r1", LABELS) as telemetry:
        everything(telemetry)
        scrapes: list[str] = []
        threads = [
            threading.Thread(target=lambda: scrapes.append(telemetry.prometheus().decode())) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            telemetry.record(EVENTS[0])
        for thread in threads:
            thread.join()
    for one in scrapes:
        names = [family.name for family in text_string_to_metric_families(one)]
        assert len(names) == len(set(names))


def test_more_series_than_the_library_keeps_by_default_are_all_shown() -> None:
    names = frozenset(f"w{n}" for n in range(3_000))
    with open_telemetry("spillover", 1.0, "r1", Labels(pools=frozenset({"p"}), workers=names)) as telemetry:
        for name in names:
            telemetry.record(
                AttemptEnded("j", "p", "onprem", name, "d", "m", "refused", "busy", 1.0, 0, "onprem")
            )
        shown = [labels for name, labels in samples(telemetry) if name == "spillover_worker_failures_total"]
    assert len(shown) == 3_000
