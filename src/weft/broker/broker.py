"""What `import weft` offers: a broker that takes subscriptions and documents, and delivers messages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Literal, Self

from weft.broker.admission import Admission
from weft.broker.change_lock import ChangeLock
from weft.broker.courier import Courier
from weft.broker.destinations import Message, destination
from weft.broker.explain import explain, explained_graph
from weft.broker.ids import Ids
from weft.broker.matcher import Matcher
from weft.broker.published import Published
from weft.broker.publisher import Publisher
from weft.broker.reading import new_plan
from weft.broker.record import BrokerRecord
from weft.broker.stream_rules import Rules, all_rules
from weft.broker.subscriptions import Subscription
from weft.broker.tracing import publishing
from weft.broker.typed import ColumnText
from weft.broker.undelivered import UndeliveredMessages
from weft.documents.document import Limits
from weft.documents.document_column import Batch, as_batch, listed
from weft.documents.dtd import Dtd
from weft.documents.moment import END, Moment, Span, nanoseconds
from weft.documents.schema import Schema
from weft.engine.paths.bounds import Bounds
from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration, Configurations
from weft.joins.checkpoint import load, save
from weft.joins.time.arrivals import Clock
from weft.optimizer.adapting import Retrieval
from weft.reference.pathsharing.optimize import Approach

_LOG = logging.getLogger(__name__)
_NO_NAMESPACES: dict[str, str] = {}


class Broker(BrokerRecord):
    """Matches documents against all its subscriptions at once.

    >>> broker = Broker()
    >>> broker.subscribe("/note[@to = 'me']/text()", id="mine")
    'mine'
    >>> broker.publish("<note to='me'>hello</note>")[0].nodes
    ('hello',)

    It can be used from several threads. A document sees exactly the subscriptions that were there when its batch began.
    """

    # Long: it tells what each setting is.
    def __init__(
        self,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        approach: Approach | None = None,
        profile: bool = False,
        lateness: Span = 0,
        ahead: Span | None = None,
        clock: Clock = time.time_ns,
        destination_seconds: float | None = 30.0,
        headers: Configurations = (),
        optimizer: Retrieval = "greedy",
        timestamp: str | None = None,
        id: str | None = None,
        streams: Rules | None = None,
        schema: str | Path | Schema | None = None,
    ) -> None:
        """With a DTD, queries that mean the same in documents that keep to it become the same.

        `approach` answers FLWR queries as the paper does: each by its own plan (`"F"`, `"FW"`, `"FWR"`), or by merged
        plans (`"PlanSharing"`). `profile` counts the time of each operator (see `operator_seconds`).

        Joins take documents in the order of their timestamps, or without any as they come. `lateness` is how long a
        document may come late: so long its messages wait for others. `ahead` is by how much a document's timestamp may
        be ahead of the time that has passed since the latest came; without it no document may be dated more than a day
        ahead of the clock. Both are seconds or a timedelta; `clock` gives the nanoseconds since 1970.

        `destination_seconds` is how long a destination may take for a message. Destinations are called in a thread of
        their own, so that one that blocks can be left behind; None calls them in the publisher's thread and waits.

        `headers` are the configurations of views, or a file of them, whose headers it can read: a document that comes
        with such a header is parsed only if the header does not tell all that the subscriptions ask for. `optimizer`
        says what brings conditions up: the part that costs least in the documents that come ("greedy"), or by its kind
        ("fixed"); the other searches that `weft.optimizer.ElementMatcher` knows are for one query.

        `timestamp` and `id` are paths inside the documents, such as "//CreDtTm": what stands there is the document's
        time, or its id. A timestamp may also be "file", that which the document comes with, or "clock". `streams` says
        so stream by stream (`StreamRule`, or a file with such lines). `schema` is a file of XML Schema. A document
        without a time or id where one is expected, or that is not valid, is rejected.
        """
        if destination_seconds is not None and not 0 < destination_seconds < inf:
            found = f"expected a number of seconds above 0, or None, found {destination_seconds}"
            raise ConfigurationError(f"destination_seconds: {found}")
        self._matcher = Matcher(limits, bounds, dtd, approach, profile, lateness, ahead, clock, headers, optimizer)
        rules = all_rules(streams, timestamp, id)
        checked = schema if isinstance(schema, Schema) or schema is None else Schema.load(schema)
        self._publisher = Publisher(self._matcher, Admission(rules, checked, self._matcher.limits))
        self._undelivered = UndeliveredMessages()
        self._changing = ChangeLock()
        self._publishing = threading.RLock()  # held while delivering, so that each subscriber sees publication order
        self._courier = Courier(destination_seconds)

    # -- subscriptions

    def subscribe(
        self,
        query: str | Subscription,
        *,
        id: str | None = None,
        to: Callable[[Message], object] | str | Path | None = None,
        namespaces: Mapping[str, str] | None = None,
        ignore_namespaces: bool = False,
        language: str | None = None,
        from_state: bool = False,
        columns: Mapping[str, ColumnText] | None = None,
    ) -> str:
        """Register a query; its id comes back, the next free number if none is given.

        The language is XPath, FLWR for a query that starts with its enclosing element, or XSCL for one that has its
        words; `language` ("xpath", "xquery", "xscl") says so. XSCL sees the documents that come from now on; with
        `from_state` also those that joins still hold.

        `to` is where every message goes: a function, a folder (one file a message) or "-" for standard output; without
        it messages only come back from `publish`. `namespaces` maps the query's prefixes, the empty one being the
        default for element names. With `columns` ({"id": "@id", "total": "number(total)"}) typed values are told of
        each node instead of its XML (`Message.columns`). A query that cannot be read raises QueryError and changes
        nothing.
        """
        if isinstance(query, str):
            names = namespaces or _NO_NAMESPACES
            query = Subscription(id or "", query, language, names, to, True, ignore_namespaces, columns or {})
        elif id or to is not None or columns:
            told = columns or query.columns
            query = replace(query, id=id or query.id, to=query.to if to is None else to, columns=told)
        plan = new_plan(query, self._matcher.limits)
        with self._changing:
            where = destination(query.to)
            if where is not query.to or not query.id:
                query = replace(query, id=query.id or self._matcher.free_id(), to=where)
            self._matcher.add(query, plan, from_state)
            self._publisher.tally.changes += 1
            _LOG.debug("subscribed: %s", query.id)
            return query.id

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription; raises KeyError if there is none with this id."""
        with self._changing:
            self._matcher.remove(id)
            self._publisher.tally.changes += 1
            _LOG.debug("unsubscribed: %s", id)

    def __len__(self) -> int:
        return len(self._matcher.numbers)

    def __contains__(self, id: object) -> bool:
        return id in self._matcher.numbers

    def configure(self, configuration: Configuration) -> None:
        """Read the headers of one more configuration from now on; those of the others can be read as before."""
        with self._changing:
            self._matcher.configure(configuration)

    # -- documents

    def matches(self, batch: Batch) -> list[Ids]:
        """For each document, in order, the ids of the subscriptions that match it, in the order they were made.

        Each compares like a list; its strings are made when they are read. What is rejected has none (see `rejected`).
        XSCL subscriptions are not among them: they match several documents together. A batch is documents, bytes or
        texts; an array of Arrow, binary or string, whose nulls match nothing; or a pair, a buffer with the place behind
        each of its documents. For what such a column holds no object is made.
        """
        return self._publisher.matches_under(self._changing, as_batch(batch))

    def publish(self, batch: Batch) -> Published:
        """Match a document or a batch, deliver the messages, and give them back: by document, then subscription.

        They compare like a list; a text is made when somebody reads it. The messages of joins come behind the others of
        their batch, in the order of the documents that complete them. What a destination does not take, because it
        raises or takes too long, is in `undelivered`, and `redeliver` tries it again; the others are not disturbed.

        All documents see the same subscriptions: they are matched before the first message is handed over. Messages
        keep the documents' bytes, and whole node tables only where they count nodes or copy attributes.
        """
        documents, tally = listed(batch), self._publisher.tally
        tally.documents += len(documents)
        with publishing(documents):
            with tally.stage("publish"), self._changing.shared() as place:
                beside = self._publisher.messages_beside_others(documents, place)
            with self._turn():
                if beside is None:
                    with tally.stage("publish"), self._changing:
                        beside = self._publisher.messages(documents)
                return self._deliver(beside)

    def advance(self, timestamp: Moment = inf) -> Published:
        """Time passes without documents: no document before this timestamp, or datetime, will come any more.

        Joins whose windows close by that deliver what nothing followed; without a timestamp all windows close.
        """
        moment = END if timestamp == inf else nanoseconds(timestamp)
        with self._turn():
            with self._changing:
                deliveries = self._publisher.joined(self._matcher.joins.advance(moment))
            return self._deliver(deliveries)

    def redeliver(self) -> int:
        """Hand over again what is in `undelivered`, oldest first; how many of them were taken comes back."""
        with self._turn():
            again = [(each.message, each.to) for each in self._undelivered.take()]
            failed = self._courier.deliver(again)
            self._undelivered.add(failed)
            return len(again) - len(failed)

    def explain(self, id: str | None = None, costs: bool = False) -> str:
        """How all subscriptions, or one, are answered, and what is shared; with `costs` what brings conditions up."""
        with self._changing:
            return explain(self._matcher, id, costs)

    def explain_graph(self, id: str, form: Literal["dot", "svg"] = "dot") -> str:
        """What runs for one subscription as a graph, in Graphviz's language or drawn as SVG."""
        with self._changing:
            return explained_graph(self._matcher, id, form)

    # -- the life of a broker

    def checkpoint(self, file: str | Path, position: Any = None) -> None:
        """Write all that joins remember to a file; when this returns it is on the disk, as a whole.

        `position` is where the producer is, as JSON: it comes back from `restore`. Take the messages of a batch, then
        make the checkpoint: a restart from it loses nothing and repeats nothing that came before it.
        """
        with self._turn(), self._changing:
            save(self._matcher.joins, Path(file), self._matcher.joining, position)

    def restore(self, file: str | Path) -> Any:
        """Go on where the broker that wrote a checkpoint was; the position that it was given comes back.

        To be called on a new broker with its subscriptions, before it gets documents.
        """
        with self._turn(), self._changing:
            return load(self._matcher.joins, Path(file), self._matcher.joining)

    def close(self) -> None:
        """Forget all subscriptions."""
        with self._changing:
            self._matcher.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One publisher at a time, so that all subscribers see messages in one order; a destination is part of it."""
        with nullcontext() if self._courier.is_inside else self._publishing:
            yield

    def _deliver(self, published: Published) -> Published:
        tally = self._publisher.tally
        tally.messages += len(published)
        with tally.stage("deliver"):
            for portion in published.portions():
                failed = self._courier.deliver(portion)
                if failed:
                    _LOG.warning("%d messages were not delivered, the first: %s", len(failed), failed[0].error)
                self._undelivered.add(failed)
        return published
