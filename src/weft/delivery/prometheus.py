"""The counts of a job, or of a broker, in, metrics for Prometheus out: as text, at an address, or in a registry."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import HTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weft.broker.broker import Broker
from weft.delivery.metrics import TOP, Metrics


class JobCollector(Collector):
    """The metrics of a job: `REGISTRY.register(JobCollector(metrics))`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """All of them, as they are now."""
        told = self._metrics.snapshot()
        yield _counter("documents", "Documents that were read, or rejected.", told.documents)
        yield _counter("tombstones", "Records of Kafka without a value.", told.tombstones)
        yield _counter("empty", "Records of Kafka with a value of no bytes.", told.empty)
        yield _counter("messages", "Messages that were delivered.", told.messages)
        yield _labelled(CounterMetricFamily, "rejected", "Documents rejected, by reason.", "reason", told.reasons)
        yield _counter("late", "Documents that came too late to be joined.", told.late)
        yield _counter("processing_seconds", "Seconds that batches have taken.", told.seconds)
        stages = "Seconds that each stage has taken."
        yield _labelled(CounterMetricFamily, "stage_seconds", stages, "stage", told.stages)
        yield _gauge("batch", "The number of the latest batch, -1 before the first.", told.batch)
        if told.version is not None:
            yield _gauge("subscriptions_version", "The version of the subscriptions that answers.", told.version)
        if told.lag is not None:
            yield _gauge("lag_files", "Files that have arrived and are not read yet.", told.lag)
        state = "What joins hold: rows, and bytes of memory."
        yield _labelled(GaugeMetricFamily, "join_state", state, "unit", told.join_state)
        yield _labelled(
            CounterMetricFamily,
            "subscription_messages",
            f"Messages of the {TOP:,} subscriptions that have most.",
            "subscription",
            told.per_subscription,
        )


class BrokerCollector(Collector):
    """The metrics of a broker: `REGISTRY.register(BrokerCollector(broker))`."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def collect(self) -> Iterator[Metric]:
        """All of them, as they are now."""
        told = self._broker.counts
        yield _counter("documents", "Documents that were published or matched, or rejected.", told.documents)
        yield _counter("messages", "Messages that were published.", told.messages)
        yield _labelled(CounterMetricFamily, "rejected", "Documents rejected, by reason.", "reason", told.reasons)
        yield _counter("refused_messages", "Messages that were not made, for they would break a limit.", told.refused)
        yield _counter("late", "Documents that came too late to be joined.", told.late)
        yield _counter("ahead", "Documents that were dated too far ahead to be joined.", told.ahead)
        stages = "Seconds that each stage has taken."
        yield _labelled(CounterMetricFamily, "stage_seconds", stages, "stage", told.stages)
        yield _gauge("subscriptions", "Subscriptions.", told.subscriptions)
        yield _gauge("suspended_subscriptions", "Subscriptions that failed and take no part.", told.suspended)
        yield _gauge("undelivered_messages", "Messages that their destination did not take.", told.undelivered)
        yield _gauge("join_documents", "Documents that joins hold.", told.join_documents)
        yield _gauge("label_paths", "Label paths that documents have brought.", told.label_paths)
        yield _gauge("plan_version", "Changes of the subscriptions so far.", told.plan_version)


def prometheus_text(collector: Collector) -> str:
    """Prometheus' text of one collector."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def serve_metrics(metrics: Metrics, port: int, host: str = "127.0.0.1") -> HTTPServer:
    """The metrics of a job at `http://127.0.0.1:port/metrics`, until `shutdown()`; port 0 takes a free one."""
    registry = CollectorRegistry()
    registry.register(JobCollector(metrics))
    server, _ = start_http_server(port, host, registry)
    return server


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"weft_{name}", text, value)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"weft_{name}", text, value)


def _labelled(kind: Any, name: str, text: str, label: str, values: Any) -> Metric:
    family: Metric = kind(f"weft_{name}", text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)  # type: ignore[attr-defined]
    return family
