"""Where a header stops paying: documents of all sizes, answered by look-ups and by Weft's own scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from bench.measure import timed
from weft.documents import Document, read
from weft.engine import Engine
from weft.headers import HeaderMatcher, Producer, configure
from weft.languages import parse
from weft.plans.plan import Pattern
from weft.workload import generate_documents, shipped

_VIEWS = ("/news/@lang", "/news/@edition", "/news/head/title", "/news/head/date")
_QUERIES = ("/news[@lang = 'nobody']", "/news[head/title = 'nobody']", "/news[@edition = 'nobody']")
#: By elements: documents from some hundred bytes to megabytes.
ELEMENTS = (5, 20, 70, 300, 1_000, 5_000, 40_000)
_MOST_BYTES = 3_000_000  # of all documents of a size
_LEAST, _MOST = 4, 64  # documents
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Paid:
    """Documents of one size; times in microseconds a document."""

    bytes: float
    scan_us: float  # the node table alone
    header_us: float  # and the header
    parsed_us: float  # scanned and matched, one at a time
    batched_us: float  # the same, many at a time
    look_up_us: float  # answered from the header

    @property
    def break_even(self) -> float:
        """The share of documents that a header must answer to be worth looking at, beside parsing in batches."""
        return self.look_up_us / self.batched_us


def pay(elements: int) -> Paid:
    """News of about so many elements, at a server with three queries that no document matches."""
    documents = _documents(elements)
    producer, engine, matcher = (
        Producer(configure("paying", _VIEWS)),
        Engine(),
        HeaderMatcher(configure("paying", _VIEWS)),
    )
    for number, query in enumerate(_QUERIES):
        plan = parse(query)
        assert isinstance(plan, Pattern)
        engine.add(number, plan)
        matcher.add(number, plan)
    sent = producer.attach(documents)

    def each(function: Callable[[Document], object], given: Sequence[Document]) -> float:
        def call() -> None:
            for document in given:  # what was read of one is gone before the next is read
                function(document)

        return _least(call, len(given))

    found = Paid(
        sum(len(document.data) for document in documents) / len(documents),
        each(lambda document: read([document]), documents),
        each(lambda document: producer.attach([document]), documents),
        each(lambda document: engine.match(read([document])).subscriptions(), documents),
        _least(lambda: engine.match(read(documents)).subscriptions(), len(documents)),
        each(matcher.answer, sent),
    )
    assert not matcher.misses, "a header of these views tells all that is asked"
    return found


def _least(function: Callable[[], object], number: int) -> float:
    """Microseconds a document, the least of some rounds after one that does not count."""
    function()
    return min(timed(lambda _: function(), None)[0] for _ in range(_ROUNDS)) * 1e6 / number


def _documents(elements: int) -> list[Document]:
    made = generate_documents(shipped("news"), number=_MOST, elements=elements, words=4, repeats=60, seed=7)
    documents: list[Document] = []
    for at, data in enumerate(islice(made, _MOST)):
        documents.append(Document(data, str(at)))
        if at + 1 >= _LEAST and sum(len(each.data) for each in documents) > _MOST_BYTES:
            break
    return documents
