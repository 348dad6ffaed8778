"""A workload in, times of Weft and of Saxon, which runs one query after the other, out; their messages are compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from statistics import mean
from typing import NamedTuple

from lxml import etree

from bench.brokering.workload import BATCH, Setting, as_table, dtd_of, make_documents, make_queries
from bench.contest import DisagreementError
from bench.measure import Child, ChildLostError, timed
from weft.engine import Engine
from weft.engine.messages.outcome import Outcome
from weft.languages.xquery import parse_flwr

_TIMEOUT = 120.0  # seconds for one document and all queries


class Answered(NamedTuple):
    """What Saxon took for a document and all queries, in seconds, and the messages as text.

    `values` is until the results are there, `texts` until they are there as text. `run_query` is what it takes by
    `run_query_to_string`, as one writes it, which compiles a query each time that it runs; None if nobody asked.
    """

    values: float
    texts: float
    messages: list[str]
    run_query: float | None


@dataclass(frozen=True, slots=True)
class Beside:
    """Weft and Saxon on the same documents, in milliseconds per document; why not, if Saxon is lost."""

    setting: Setting
    queries: int
    documents: int
    messages: float  # for each document
    groups_ms: float
    messages_ms: float
    values_ms: float | None = None
    texts_ms: float | None = None
    run_query_ms: float | None = None
    reason: str = ""

    @property
    def speedup(self) -> float | None:
        """Saxon's time over Weft's, from a parsed document to the messages as text."""
        return None if self.texts_ms is None else self.texts_ms / self.messages_ms

    @property
    def speedup_groups(self) -> float | None:
        """The same until the groups are there, and in Saxon its values, which are no text yet."""
        return None if self.values_ms is None else self.values_ms / self.groups_ms


class Saxon:
    """Saxon in its process; once lost, it has no answers any more."""

    def __init__(self, queries: list[str]) -> None:
        self._child = Child("bench.brokering.saxon_loop", queries)
        self.reason = ""

    def answers(self, documents: list[bytes]) -> list[Answered]:
        """One for each document; how long `run_query` takes for the first of them only."""
        try:
            asked = enumerate([] if self.reason else documents)
            return [self._child.ask((document, at == 0), _TIMEOUT) for at, document in asked]
        except ChildLostError as error:
            self.reason = str(error)
            return []

    def close(self) -> None:
        """End its process."""
        self._child.close()


def measure_beside(setting: Setting, number: int, batches: int) -> Beside:
    """Batch by batch, first Weft, then Saxon on the same documents; raises DisagreementError."""
    queries = make_queries(setting, number)
    engine = Engine(dtd=dtd_of(setting))
    for place, query in enumerate(queries):
        engine.add(place, parse_flwr(query))
    saxon = Saxon(queries)
    ours, theirs = [], []
    try:
        made = make_documents(setting, (1 + batches) * BATCH)
        while documents := list(islice(made, BATCH)):
            ours.append(ask_weft(engine, documents))
            theirs.append(saxon.answers(documents))
            for expected, answer in zip(ours[-1].messages, theirs[-1], strict=False):  # none if Saxon is lost
                check_messages(expected, answer.messages)
    finally:
        saxon.close()
    answers = [] if saxon.reason else [answer for batch in theirs[1:] for answer in batch]
    return _sum_up(setting, number, ours[1:], answers, saxon.reason)


class Published(NamedTuple):
    """What Weft took for a batch, until the groups and until the messages; these by document and query."""

    groups: float
    texts: float
    messages: list[dict[int, str]]


def ask_weft(engine: Engine, documents: list[bytes]) -> Published:
    """Parsing is not timed, here as in Saxon."""
    table = as_table(documents)
    groups, outcome = timed(lambda some: _with_groups(engine.large.match(some)), table)
    more, found = timed(lambda some: list(some.messages()), outcome)  # the groups are there already
    messages: list[dict[int, str]] = [{} for _ in documents]
    for at, query, text in found:
        messages[at][query] = text
    return Published(groups, groups + more, messages)


def _with_groups(outcome: Outcome) -> Outcome:
    assert outcome.groups is not None  # they are worked out when they are asked for
    return outcome


def check_messages(ours: dict[int, str], theirs: list[str]) -> None:
    """Raise DisagreementError unless all messages for a document are the same, and the others have no items."""
    for query, text in enumerate(theirs):
        if query in ours and _canonical(ours[query]) != _canonical(text):
            raise DisagreementError(f"query {query}: Weft makes {ours[query]!r} and Saxon {text!r}")
        if query not in ours and "<item" in text:
            raise DisagreementError(f"query {query}: Weft makes nothing and Saxon {text!r}")


def _canonical(text: str) -> bytes:
    return bytes(etree.tostring(etree.fromstring(text), method="c14n"))


def _sum_up(setting: Setting, queries: int, ours: list[Published], theirs: list[Answered], reason: str) -> Beside:
    documents = sum(len(batch.messages) for batch in ours)
    per_document = 1e3 / documents
    run_query = [answer.run_query for answer in theirs if answer.run_query is not None]
    return Beside(
        setting,
        queries,
        documents,
        sum(len(messages) for batch in ours for messages in batch.messages) / documents,
        per_document * sum(batch.groups for batch in ours),
        per_document * sum(batch.texts for batch in ours),
        1e3 * mean(answer.values for answer in theirs) if theirs else None,
        1e3 * mean(answer.texts for answer in theirs) if theirs else None,
        1e3 * mean(run_query) if run_query else None,
        reason,
    )
