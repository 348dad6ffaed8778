"""One server of a network: documents in, what is delivered there and where they go on out; by headers if possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from weft.broker.broker import Broker
from weft.broker.subscriptions import Subscription
from weft.headers.producer import bytes_of
from weft.languages import Plan
from weft.network.passage import Delivered, Handled, Passage
from weft.network.questions import AnswerToDocument, Asked, Questions
from weft.network.seen import LATEST, SeenDocuments
from weft.network.server_plan import Receivers, ServerPlan
from weft.network.traffic import ServerTraffic
from weft.network.wanted import RoutingQuery, routing_queries
from weft.plans.xscl import Xscl


class Server:
    """A server as it runs, with what it counts.

    `latest` is how many documents of a source it remembers to recognize copies; `lateness` is how many seconds out of
    their order documents may come to joins.
    """

    def __init__(self, plan: ServerPlan, latest: int = LATEST, lateness: float = 0.0) -> None:
        self.name, self.traffic, self.latest = plan.name, ServerTraffic(), latest
        self._limits, self._lateness = plan.limits, lateness
        self.questions = Questions(plan.readable, plan.attached, plan.limits)
        self._is_redundant = plan.is_redundant
        self._seen = SeenDocuments(latest)
        self._joining: dict[str, Subscription] = {}
        self._joins: Broker | None = None  # made when the first document comes that may take part
        self._waiting: list[Passage] = []  # such documents
        self._receivers: Receivers = {}
        for subscription, its_plan in plan.subscriptions:
            self.subscribe(subscription, its_plan)
        self.route(plan.queries, plan.receivers)

    # -- what it is asked to do

    def subscribe(self, subscription: Subscription, plan: Plan) -> None:
        """Serve one more subscription."""
        if not isinstance(plan, Xscl):
            self.questions.add(("subscription", subscription.id), plan)
            return
        self._joining[subscription.id] = subscription
        for query in routing_queries(plan):
            self.questions.add(("join", subscription.id), query.selection, query.stream)
        if self._joins is not None:
            self._joins.subscribe(subscription)

    def unsubscribe(self, id: str) -> None:
        """Serve a subscription no more."""
        if self._joining.pop(id, None) is None:
            self.questions.remove(("subscription", id))
            return
        self.questions.remove(("join", id))
        if self._joins is not None:
            self._joins.unsubscribe(id)

    def route(self, queries: dict[int, RoutingQuery], receivers: Receivers) -> None:
        """From now on documents go on to these, if they match these queries."""
        known = {number for kind, number in self.questions.keys if kind == "routing"}
        for number in known - queries.keys():
            self.questions.remove(("routing", number))
        for number in sorted(queries.keys() - known):
            self.questions.add(("routing", number), queries[number].selection, queries[number].stream)
        self._receivers = receivers

    # -- what it does

    def count_anew(self) -> ServerTraffic:
        """What it has counted so far; from now on it counts from nothing."""
        counted, self.traffic = self.traffic, ServerTraffic()
        self.questions.count_anew()
        return counted

    def take(self, passages: Sequence[Passage]) -> list[Handled]:
        """What becomes of each document; of those that came before, nothing."""
        fresh = [passage for passage in passages if self._is_new(passage)]
        if not len(self.questions):
            return [Handled(passage, (), ()) for passage in fresh]
        answers = self.questions.answer(
            [passage.document for passage in fresh],
            lambda place, matched, unknown: self._is_decided(fresh[place].source, matched, unknown),
        )
        self.traffic.misses = self.questions.misses
        return [self._handle(passage, answer) for passage, answer in zip(fresh, answers, strict=True)]

    def settle(self, at_end: bool = False) -> list[Delivered]:
        """What joins deliver of the documents that were taken since; at the end all windows close."""
        if self._joins is None and not self._waiting:
            return []
        self._waiting.sort(key=lambda passage: passage.number)
        joins = self._joining_broker()
        messages = [*joins.publish([passage.document for passage in self._waiting])]
        self._waiting.clear()
        if at_end:
            messages += joins.advance()
        self.traffic.delivered += len(messages)
        return [Delivered(self.name, each.subscription, each.document, each.documents) for each in messages]

    def _is_new(self, passage: Passage) -> bool:
        traffic, document = self.traffic, passage.document
        traffic.bytes_in += len(bytes_of(document))
        traffic.header_bytes_in += len(document.header or b"")
        if self._is_redundant and not self._seen.is_new(passage.source, passage.number):
            traffic.duplicates += 1
            return False
        traffic.documents += 1
        return True

    def _handle(self, passage: Passage, answer: AnswerToDocument) -> Handled:
        self._count(passage, answer)
        seconds = passage.seconds + answer.look_up_seconds + answer.parse_seconds
        document = passage.document
        if answer.header is not None:
            document = replace(document, header=answer.header)
        passage = replace(passage, document=document, seconds=seconds)
        if any(kind == "join" for kind, _ in (*answer.matched, *answer.failed)):
            self._waiting.append(passage)
        subscriptions = tuple(str(name) for kind, name in answer.matched if kind == "subscription")
        receivers = tuple(self._onward(passage, answer))
        self._count_out(passage, len(subscriptions), len(receivers))
        return Handled(passage, subscriptions, receivers, answer.rejected)

    def _is_decided(self, source: str, matched: Sequence[Asked], unknown: Sequence[Asked]) -> bool:
        """Whether what is unknown cannot matter: it is for links alone, over which the document goes anyway."""
        if any(kind != "routing" for kind, _ in unknown):
            return False
        known, is_open = _numbers(matched), _numbers(unknown)
        return all(wanted & known or not wanted & is_open for _, wanted in self._receivers.get(source, ()))

    def _onward(self, passage: Passage, answer: AnswerToDocument) -> Iterator[str]:
        """Who gets the document next; what could not be asked may be wanted."""
        if answer.rejected is not None:
            return
        matched = _numbers((*answer.matched, *answer.failed))
        for receiver, wanted in self._receivers.get(passage.source, ()):
            if wanted & matched or (wanted and not answer.is_answered):
                yield receiver

    def _count(self, passage: Passage, answer: AnswerToDocument) -> None:
        traffic, size = self.traffic, len(bytes_of(passage.document))
        traffic.look_up_seconds += answer.look_up_seconds
        if answer.is_hit:
            traffic.hits += 1
            traffic.hit_bytes += size
        else:
            traffic.parsed_bytes += size
            traffic.parse_seconds += answer.parse_seconds
            traffic.rejected += answer.rejected is not None
            traffic.attached += answer.header is not None

    def _count_out(self, passage: Passage, subscriptions: int, receivers: int) -> None:
        self.traffic.delivered += subscriptions
        self.traffic.forwarded += receivers
        self.traffic.bytes_out += receivers * len(bytes_of(passage.document))
        self.traffic.header_bytes_out += receivers * len(passage.document.header or b"")

    def _joining_broker(self) -> Broker:
        if self._joins is None:
            self._joins = Broker(self._limits, lateness=self._lateness)
            for subscription in self._joining.values():
                self._joins.subscribe(subscription)
        return self._joins


def _numbers(keys: Sequence[Asked]) -> int:
    """The routing queries among keys, as a set."""
    found = 0
    for kind, number in keys:
        if kind == "routing" and isinstance(number, int):
            found |= 1 << number
    return found
