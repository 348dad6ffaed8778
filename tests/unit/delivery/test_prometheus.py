"""Metrics for Prometheus: its own parser reads what is told, and all families have a help line."""

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from weft import Broker, Document, Limits
from weft.broker.counts import reason_kind
from weft.delivery.metrics import BatchMetrics, Metrics
from weft.delivery.prometheus import BrokerCollector, JobCollector, prometheus_text

Samples = dict[tuple[str, tuple[str, ...]], float]


def samples(text: str) -> Samples:
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, family.name
        for sample in family.samples:
            found[sample.name, tuple(sample.labels.values())] = sample.value
    return found


def test_a_job_tells_counts_reasons_stages_lag_and_joins() -> None:
    metrics = Metrics()
    metrics.record(BatchMetrics(0, 10, 3, 5, 0.5, 2, {'a "b"\n': 5}, {}, {"mismatched tag": 2}, {"deliver": 0.4}))
    metrics.record(BatchMetrics(1, 10, 0, 7, 0.5, 3, {'a "b"\n': 7}, {}, {}, {"deliver": 0.2, "commit": 0.1}))
    metrics.observe(1, lag=4, late=2, join_state={"rows": 9.0})
    metrics.observe(1, lag=3, late=2, join_state={"rows": 8.0})

    found = samples(prometheus_text(JobCollector(metrics)))

    assert found["weft_documents_total", ()] == 20
    assert found["weft_messages_total", ()] == 12
    assert found["weft_rejected_total", ("mismatched tag",)] == 2
    assert found["weft_rejected_total", ("other",)] == 1
    assert found["weft_late_total", ()] == 2
    assert found["weft_lag_files", ()] == 3
    assert found["weft_join_state", ("rows",)] == 8
    assert found["weft_subscriptions_version", ()] == 3
    assert round(found["weft_stage_seconds_total", ("deliver",)], 6) == 0.6
    assert found["weft_subscription_messages_total", ('a "b"\n',)] == 12


def test_a_broker_tells_what_passes_through_it() -> None:
    broker = Broker(limits=Limits(max_depth=3))
    broker.subscribe("//a", id="a")
    broker.subscribe("//a->x JOIN{x = y, 1 day} //b->y", id="j")
    registry = CollectorRegistry()
    registry.register(BrokerCollector(broker))
    broker.publish([Document("<a/>"), Document("<a>"), Document("<a><a><a><a/></a></a></a>")])
    broker.matches(["<a/>", "<b/>"])
    broker.unsubscribe("a")

    found = samples(prometheus_text(BrokerCollector(broker)))

    assert (found["weft_documents_total", ()], found["weft_messages_total", ()]) == (5, 1)
    assert found["weft_rejected_total", ("no element found",)] == 1
    assert found["weft_rejected_total", ("nested deeper than N",)] == 1
    assert found["weft_join_documents", ()] == 1
    assert found["weft_label_paths", ()] > 0
    assert (found["weft_subscriptions", ()], found["weft_plan_version", ()]) == (1, 3)
    stages = {key[1][0] for key in found if key[0] == "weft_stage_seconds_total"}
    assert stages == {"publish", "join", "deliver", "match"}
    assert registry.get_sample_value("weft_documents_total") == 5


def test_reasons_are_few() -> None:
    told = ["12 bytes, more than 5", "13 bytes, more than 5", "expected a time at //t, found 'x'", "not valid: a (/b)"]

    kinds = {"N bytes, more than N", "expected a time at //t, found", "not valid"}
    assert {reason_kind(text) for text in told} == kinds
