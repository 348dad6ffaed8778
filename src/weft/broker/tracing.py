"""Documents that are published in, a span of OpenTelemetry out where its API is installed; else nothing.

A document that comes with a `traceparent` is linked to from the span, and its messages have the same `traceparent`: so
a trace goes on from the producer to the subscriber, whatever lies between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.documents.document import Document

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError:
    _TRACER: Any = None
else:
    _TRACER = trace.get_tracer("weft")
_MOST_LINKS = 128  # OpenTelemetry keeps no more of a span


@contextmanager
def publishing(documents: Sequence[Document]) -> Iterator[None]:
    """The span in which documents are published."""
    if _TRACER is None:
        yield
        return
    with _TRACER.start_as_current_span(
        "weft.publish", links=list(_links(documents)), attributes={"weft.documents": len(documents)}
    ):
        yield


def _links(documents: Sequence[Document]) -> Iterator[Any]:
    for parent in list(dict.fromkeys(each.traceparent for each in documents if each.traceparent))[:_MOST_LINKS]:
        context = TraceContextTextMapPropagator().extract({"traceparent": parent})
        found = trace.get_current_span(context).get_span_context()
        if found.is_valid:
            yield trace.Link(found)
