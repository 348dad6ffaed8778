"""The queries of a server in terms of one configuration: a header's entries in, the queries that match out.

A query whose condition is a conjunction is looked at only if its *driver* holds: a look-up that is true for few
documents. Drivers are found by the value that is read, for all constants at once; so what a document costs follows the
values that it has, not the number of queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from xxhash import xxh3_64_intdigest

from weft.documents.document import Document, is_in_stream
from weft.documents.kind import Kind
from weft.documents.offsets import root_name_at
from weft.headers.compile import ConditionCompiler
from weft.headers.conditions import (
    AllOf,
    HeaderCondition,
    LookUp,
    RootIs,
    Settled,
    can_decide,
    is_served,
)
from weft.headers.configuration import Configuration
from weft.headers.driving import Driving
from weft.headers.evaluate import ConditionTable
from weft.headers.expressions import Expression
from weft.headers.header import ABSENT, UTF8, Fields, Header
from weft.headers.looked_up import LookedUp
from weft.kernel import known_values, plain_values
from weft.languages import Plan
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.names import name_forms
from weft.plans.xscl import Xscl

#: Whether the queries that are known to match are enough, though others are unknown.
Suffices = Callable[[Sequence[int], Sequence[int]], bool]
_FEW = 64  # queries with a driver that is unknown, which are asked one by one all the same
_AGAIN = 512  # documents after which conditions without a driver are put in order anew


class ServedQueries:
    """The conditions of all queries in terms of one configuration."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._compiler = ConditionCompiler(configuration)
        views = [view.expression[-1].path[-1].kind for view in configuration.views]
        self.kinds = bytes([*views, *(Kind.ELEMENT for _ in configuration.families)])
        self._tag, self.seed = configuration.tag.encode("utf-8"), configuration.seed
        self.renew({})
        self.documents = 0  # that came with a header of this configuration
        self.reported = 0  # and how many of them were reported
        self.several: Counter[int] = Counter()  # where something was not known: entries without one node, since then

    def renew(self, plans: Mapping[int, Plan]) -> None:
        """Begin anew with these queries: conditions that nobody asks for any more are forgotten."""
        self._table = ConditionTable()
        self._queries: dict[int, dict[int, str]] = {}  # by condition the numbers of queries, with their streams
        self._condition: dict[int, int] = {}
        self._driving = Driving(self._table)
        self._drivers = self._driving.drivers
        self._others: dict[int, None] = {}  # conditions without a driver
        self._rooted: dict[str, dict[int, None]] = {}  # by name, those of which no more is known than the root's name
        self._in_streams: set[int] = set()  # queries that are for the documents of some stream only
        self.hopeless: set[int] = set()  # queries of all documents that no header can answer
        for number, plan in plans.items():
            self.add(number, plan)

    def entry(self, expression: Expression) -> int | None:
        """The entry of an expression, if it is a view."""
        return self._compiler.entries.get(expression)

    def add(self, number: int, plan: Plan) -> None:
        condition = self._compiler.condition(plan)
        at = self._condition[number] = self._table.add(condition)
        queries = self._queries.setdefault(at, {})
        if not queries and condition != Settled(False):  # a query for documents that have other headers is never asked
            if (root := _root_alone(condition)) is not None:
                self._rooted.setdefault(root, {})[at] = None
            elif not self._driving.add(at, condition):
                self._others[at] = None
        queries[number] = _stream(plan)
        if queries[number]:
            self._in_streams.add(number)
        elif not can_decide(condition):
            self.hopeless.add(number)

    def remove(self, number: int) -> None:
        at = self._condition.pop(number)
        self.hopeless.discard(number)
        self._in_streams.discard(number)
        queries = self._queries[at]
        del queries[number]
        if not queries:
            del self._queries[at]
            self._others.pop(at, None)
            root = _root_alone(self._table.conditions[at])
            if root is not None:
                del self._rooted[root][at]
                if not self._rooted[root]:
                    del self._rooted[root]
            self._driving.remove(at)

    def answer_plain(self, document: Document) -> list[int] | None:
        """The queries that match a document, where its header is of this configuration and settles them at a glance.

        None for whatever needs a closer look; then nothing is counted.
        """
        data, header, drivers = document.data, document.header, self._drivers
        if self._others or self._rooted or self.hopeless or type(data) is not bytes or type(header) is not bytes:
            return None
        own, checksum = xxh3_64_intdigest(header[:-4]), xxh3_64_intdigest(data, self.seed)
        known = known_values(header, data, self._tag, self.kinds, drivers.entries, drivers.texts, own, checksum)
        if known is None:
            return None
        values, held = known
        if drivers.has_others:
            held.append(dict.fromkeys(drivers.held_otherwise(values)))
        matched: list[int] = []
        for conditions in held:
            for at in conditions:
                if at not in self._driving.sure:
                    return None
                matched += self._in_stream(at, document)
        drivers.probed += 1
        self._count()
        matched.sort()
        return matched

    def answer(
        self, document: Document, data: bytes, fields: Fields, suffices: Suffices | None = None
    ) -> list[int] | None:
        """The same for any document that the header is of; None if it must be parsed.

        `fields` are those of the header, which is not made into one where values are plain. Queries that are not known
        to match may be left open if what is known `suffices`.
        """
        drivers, looked_up = self._drivers, None
        values: Sequence[str | int | None] = (None,)
        if fields[5] & UTF8:
            values = plain_values(data, fields[4], self.kinds, drivers.entries)
        if None in values:
            looked_up = LookedUp(document, data, Header(*fields[:6]), self.kinds)
            values = looked_up.values(drivers.entries)
        candidates = drivers.candidates(values, _FEW)
        if candidates is None:
            self._driving.blocked(drivers.blocking)
            return None
        held, unknown = candidates
        matched: list[int] = []
        asked: list[int] = []
        for at in held:
            if at in self._driving.sure:
                matched += self._in_stream(at, document)
            else:
                asked.append(at)
        self._driving.held(asked)
        asked += self._others
        asked += unknown
        if self._rooted:
            looked_up = looked_up or LookedUp(document, data, Header(*fields[:6]), self.kinds)
            asked += self._with_root(looked_up.root_name)
        if asked:
            looked_up = looked_up or LookedUp(document, data, Header(*fields[:6]), self.kinds)
            if not self._ask(document, looked_up, asked, matched, suffices):
                return None
        matched.sort()
        return matched

    def is_hopeless(self, data: bytes, fields: Fields) -> bool:
        """Whether some query has no answer, whatever the entries say: then the header need not be the document's."""
        if self.hopeless or not self._rooted or self._in_streams or not fields[5] & UTF8:
            return bool(self.hopeless)
        return bool(self._with_root(root_name_at(data, fields[3])))

    def _with_root(self, name: str) -> list[int]:
        """Of the conditions of which no more is known, those that are not false for documents with this root."""
        return [at for form in name_forms(name) for at in self._rooted.get(form, ())]

    def count(self, entries: tuple[int, ...], is_miss: bool) -> None:
        """One more document came with a header of this configuration."""
        self._count()
        if is_miss and entries and min(entries) < ABSENT:
            self.several.update(entry for entry, reason in enumerate(entries) if reason < ABSENT)

    def _count(self) -> None:
        """Between two documents what was seen is put to use."""
        self.documents += 1
        if self._driving.changing:
            self._driving.keep_up()
        if self._others and self.documents % _AGAIN == 0:
            for at in self._others:
                self._table.reorder(at)

    def _in_stream(self, condition: int, document: Document) -> Iterable[int]:
        """The queries with a condition that are for the document's stream."""
        queries = self._queries[condition]
        if not self._in_streams:
            return queries
        return [number for number, stream in queries.items() if not stream or is_in_stream(document, stream)]

    def _ask(
        self,
        document: Document,
        looked_up: LookedUp,
        asked: list[int],
        matched: list[int],
        suffices: Suffices | None,
    ) -> bool:
        """Add the queries whose conditions hold; whether all of them are known, or those that are suffice."""
        known: dict[int, bool | None] = {}
        unknown: list[int] = []
        for at in asked:
            found = self._table.ask(at, looked_up, known)
            if found is False:
                continue
            queries = self._in_stream(at, document)
            if found is not None:
                matched += queries
            elif queries and suffices is None:
                return False
            else:
                unknown += queries
        return not unknown or (suffices is not None and suffices(matched, unknown))

    def tested(self) -> dict[LookUp, tuple[int, int]]:
        """How many documents passed tests on values, and how many failed, since this was asked last.

        A test that drives is counted for all documents that had a value or none, another one where it was asked.
        """
        return self._table.tested() | self._driving.tested()

    def tell(self, number: int) -> str:
        condition = self._table.conditions[self._condition[number]]
        return "all" if is_served(condition) else "some" if can_decide(condition, by_root=False) else "nothing"


def _stream(plan: Plan) -> str:
    """The stream whose documents a query is for; "" for all."""
    if isinstance(plan, Xscl):
        streams = {block.stream for block in plan.blocks}
        return streams.pop() if len(streams) == 1 else ""
    return plan.stream if isinstance(plan, Flwr | LoneQuery) else ""


def _root_alone(condition: HeaderCondition) -> str | None:
    """The name that the root must have, where nothing else of a condition can be known."""
    match condition:
        case AllOf((RootIs(label), Settled(None))) if isinstance(label, str):
            return label
        case _:
            return None
