"""The ways to join: Weft's own, the paper's templates without and with views, and every query by itself.

The last two are SQL over one database. What is timed of them is what the paper times: the views and the conjunctive
queries, without loading the batch and without moving it to the state. Of Weft's way all of the second stage is timed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from bench.joins.database import Database
from bench.joins.workload import Queries
from bench.measure import timed
from weft.documents import Document, NodeTable
from weft.joins.joins import Joins
from weft.joins.match.witness import Witnesses
from weft.joins.output.found import Found
from weft.reference.templates.conjunctive import SqlSource, conjunctive_query
from weft.reference.templates.template import Template
from weft.reference.templates.view_cache import Materialized, NoViews, ViewCache, Views

Mode = Literal["none", "materialized", "cache"]
Triple = tuple[int, int, int]  # a distinct query and two documents
Order = Literal["values", "queries"]  # which relations a conjunctive query begins with: the values that meet, or R_T
_CACHED = 100_000  # slices, more than there are values that meet again
_BATCH = SqlSource("R_binW", "R_docW"), SqlSource("R_binW", "R_docW", "R_R")
_STATE = SqlSource("R_bin", "R_doc"), SqlSource("R_bin", "R_doc", "R_L")


def queries_first(text: str) -> str:
    """The same joins, beginning with R_T: good for a state of a few documents that agree in many values.

    The text of a conjunctive query has the values first, which is good for a large state.
    `FROM R_doc d2 JOIN R_bin b2 ON … JOIN R_T0 t ON … WHERE …` becomes `FROM R_T0 t, R_bin b2, R_doc d2 WHERE …`.
    """
    head, rest = text.split("\n", 1)
    joined, filters = rest.split("\nWHERE ")
    relations: dict[str, str] = {}
    conditions = filters.split("\n  AND ")
    for relation, alias, wanted in re.findall(r"^(?:FROM|JOIN) (\S+) (\S+)(?: ON (.*))?$", joined, re.MULTILINE):
        relations[alias] = f"{relation} {alias}"
        conditions += wanted.split(" AND ") if wanted else []
    order = dict.fromkeys(name for alias in relations for name in (f"b{alias[1:]}", alias) if name in relations)
    sources = ", ".join(relations[alias] for alias in sorted(order, key="t".__ne__))
    return f"{head}\nFROM {sources}\nWHERE {' AND '.join(conditions)}"


class Templates:
    """All queries of a template by one conjunctive query, on a database whose batch is loaded."""

    def __init__(self, database: Database, mode: Mode, order: Order = "values") -> None:
        self._database, self.mode = database, mode
        self.spent: dict[str, float] = {}  # seconds, by relation that is made, and for the conjunctive queries
        self._views: Views = NoViews()
        self.begin()
        has_views = mode != "none"
        # The state of the cache must not have the batch yet, so that takes one more conjunctive query.
        lefts = (_STATE[1], _BATCH[1]) if mode == "cache" else (_STATE[has_views],)
        self._texts = [
            _ordered(conjunctive_query(template, f"R_T{number}", left, _BATCH[has_views]), order)
            for number, template in enumerate(database.reference.templates)
            for left in lefts
        ]

    def begin(self) -> None:
        """Make new views, without anything of the documents so far: they have missed some."""
        if self.mode == "materialized":
            self._views = Materialized(self._database.relations)
        elif self.mode == "cache":
            for name in ("VC", "STR", "R_L", "R_R"):
                self._database.execute(f"DROP TABLE IF EXISTS {name}")
            self._views = ViewCache(self._database.relations, _CACHED)

    @property
    def wants_settled(self) -> bool:
        """Whether the batch must be part of the state already, or must not be."""
        return self.mode != "cache"

    def join(self) -> int:
        """How many matches the batch has; what took how long is in `spent`."""
        self.spent.clear()
        if isinstance(self._views, Materialized):
            for name, statement in self._views.steps():
                self.spent[name], _ = timed(self._database.execute, statement)
        else:
            self._views.prepare()
        self.spent["join"], found = timed(
            lambda texts: sum(_count(self._database, text) for text in texts), self._texts
        )
        self._views.maintain()
        return found

    def triples(self) -> set[Triple]:
        """The matches themselves; the views are as the last join left them."""
        return _triples(self._database, self._texts)


class Sequential:
    """Each of some distinct queries by a statement of its own: its template's, with one row in R_T.

    DuckDB's optimizer finds a good order for most of them and a very bad one for some, so each has its own order.
    """

    def __init__(self, database: Database, places: Sequence[int], order: Order = "values") -> None:
        self._database = database
        self.places = tuple(places)
        self._texts = [_ordered(self._text(place), order) for place in self.places]
        self._is_optimized = [False] * len(self._texts)

    def choose(self) -> None:
        """Let DuckDB order the joins of each query for which that is quicker on the batch that is loaded."""
        ours = [timed(self._run, text)[0] for text in self._texts]
        self._optimize(True)
        theirs = [timed(self._run, text)[0] for text in self._texts]
        self._optimize(False)
        self._is_optimized = [their < our for their, our in zip(theirs, ours, strict=True)]

    def join(self) -> int:
        """How many matches the batch has, one query's copies not counted; the batch is part of the state already."""
        found = 0
        for is_optimized in (False, True):
            self._optimize(is_optimized)
            some = zip(self._texts, self._is_optimized, strict=True)
            found += sum(self._run(text) for text, has_optimizer in some if has_optimizer is is_optimized)
        self._optimize(False)
        return found

    def triples(self) -> set[Triple]:
        """The matches themselves."""
        return _triples(self._database, self._texts)

    def _run(self, text: str) -> int:
        return int(self._database.relations.rows(f"SELECT count(*) FROM ({text})")[0][0])

    def _optimize(self, on: bool) -> None:
        self._database.execute(f"SET disabled_optimizers = '{'' if on else 'join_order'}'")

    def _text(self, place: int) -> str:
        number, template = self._template(place)
        self._database.execute(f"CREATE TABLE IF NOT EXISTS Q{place} AS SELECT * FROM R_T{number} WHERE qid = {place}")
        return conjunctive_query(template, f"Q{place}", _STATE[0], _BATCH[0])

    def _template(self, place: int) -> tuple[int, Template]:
        for number, template in enumerate(self._database.reference.templates):
            if self._database.relations.rows(f"SELECT 1 FROM R_T{number} WHERE qid = {place}"):
                return number, template
        raise KeyError(place)


class Fast:
    """Weft's own way, with every query."""

    def __init__(self, queries: Queries) -> None:
        self._order = queries.order
        self._joins = Joins()
        for number, place in enumerate(queries.order):
            self._joins.add(number, queries.plans[place])

    def witness(self, table: NodeTable) -> Witnesses:
        """The first stage."""
        return self._joins.stage.read(table)

    def join(self, documents: Sequence[Document], witnesses: Witnesses) -> Found:
        """The second stage; the documents become part of the state."""
        return self._joins.join(documents, witnesses)

    def triples(self, found: Found, docids: dict[str, int]) -> set[Triple]:
        """The matches themselves; that all subscribers of a query have them is a matter of their count."""
        return {
            (self._order[next(iter(entry.subscribers))], docids[left.document.id], docids[right.document.id])
            for entry, (left, right) in found.documents()
        }


def _ordered(text: str, order: Order) -> str:
    return queries_first(text) if order == "queries" else text


def _count(database: Database, text: str) -> int:
    """The matches of a statement, for all copies of its queries."""
    counted = f"SELECT coalesce(sum(number), 0) FROM ({text}) o JOIN copies c ON c.qid = o.qid"
    return int(database.relations.rows(counted)[0][0])


def _triples(database: Database, texts: Sequence[str]) -> set[Triple]:
    return {row for text in texts for row in database.relations.rows(f"SELECT qid, docid1, docid2 FROM ({text})")}
