"""Traces: a span for each publication, linked to the producers' traces, which messages go on with."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from weft import Broker, Document
from weft.broker import tracing

ONE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_TRACER", provider.get_tracer("weft"))
    yield exporter
    provider.shutdown()


def test_a_publication_is_a_span_with_links_to_its_documents(spans: InMemorySpanExporter) -> None:
    broker = Broker()
    broker.subscribe("//a", id="a")

    made = broker.publish([Document("<a/>", traceparent=ONE), Document("<a/>", traceparent="broken"), Document("<a/>")])

    (span,) = spans.get_finished_spans()
    assert (span.name, dict(span.attributes or {})) == ("weft.publish", {"weft.documents": 3})
    assert [f"{link.context.trace_id:032x}" for link in span.links] == [ONE.split("-")[1]]
    assert [message.traceparent for message in made] == [ONE, "broken", None]


@pytest.mark.usefixtures("spans")
def test_a_message_of_a_join_goes_on_with_the_trace_of_its_last_document() -> None:
    broker = Broker(timestamp="//t", id="//i")
    broker.subscribe("//a->x[k->p] FOLLOWED BY{p = q, 1 day} //b->y[k->q]", id="j")
    inside = "<i>{}</i><t>{}</t><k>1</k>"

    made = broker.publish(
        [
            Document(f"<a>{inside.format('A', 1)}</a>", traceparent=ONE),
            Document(f"<b>{inside.format('B', 2)}</b>", traceparent=OTHER),
        ]
    )

    assert [(message.documents, message.traceparent) for message in made] == [(("A", "B"), OTHER)]


def test_without_the_library_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_TRACER", None)
    broker = Broker()
    broker.subscribe("//a", id="a")

    assert [message.traceparent for message in broker.publish(Document("<a/>", traceparent=ONE))] == [ONE]
