"""Queries and the witnesses of documents in, matches out, by the paper's algorithms over relations: the reference.

It does what the paper does, to compare with and to check against; it never forgets a document.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from weft.documents.document import Document, is_in_stream
from weft.documents.moment import START
from weft.errors import ConfigurationError
from weft.joins.compile.graph import Definition, definitions, join_graph, minor
from weft.joins.compile.queries import ANY_LENGTH
from weft.plans.xscl import Term, Xscl
from weft.reference.templates.conjunctive import SqlSource, conjunctive_query
from weft.reference.templates.relations import Relations, WitnessRows
from weft.reference.templates.template import Template, template_of
from weft.reference.templates.view_cache import Materialized, NoViews, ViewCache, Views

ViewMode = Literal["none", "materialized", "cache"]


class TemplateMatch(NamedTuple):
    """Two documents that a query joins, and the nodes of its template in both."""

    qid: int
    docid1: int
    docid2: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _TemplateGroup:
    """The queries of a template: the texts that join state and batch, batch and batch, batch and state."""

    forward: str
    within: str
    backward: str
    has_either: bool  # some query is a JOIN, whose left document may come later


class Reference:
    """All queries by their templates; a query's id is its place.

    `variables` are the definitions of all variables, each one's code its place, and `edges` the pairs of variables
    whose bindings `process` wants: for `(p, v)` each node of `p` with each node of `v` that is reached from it, for
    `(v, v)` each node of `v` twice. `valued` are the variables whose nodes' values it wants.
    """

    def __init__(self, queries: Sequence[Xscl], views: ViewMode = "none", bound: int = 100_000) -> None:
        self.relations = Relations()
        self._codes: dict[Definition, int] = {}
        self.edges: set[tuple[int, int]] = set()
        self.valued: set[int] = set()
        self.templates: list[Template] = []
        self._terms: list[tuple[Term, ...]] = []
        self._queries = queries
        self._arrivals: dict[int, tuple[int, int]] = {}  # a document's timestamp and number: its place in the order
        self._latest = START
        self._counted = _counted_streams(queries)
        sources = SqlSource("R_bin", "R_doc"), SqlSource("R_binW", "R_docW")
        self.views: Views = NoViews()
        if views != "none":
            sources = SqlSource("R_bin", "R_doc", "R_L"), SqlSource("R_binW", "R_docW", "R_R")
            self.views = Materialized(self.relations) if views == "materialized" else ViewCache(self.relations, bound)
        self._groups = [self._group(at, *sources) for at in self._add_templates()]

    @property
    def variables(self) -> tuple[Definition, ...]:
        """The definitions of all variables, in the order of their codes."""
        return tuple(self._codes)

    def terms(self, qid: int) -> tuple[Term, ...]:
        """Which block and variable each node of the query's matches is."""
        return self._terms[qid]

    def process(self, batch: Sequence[WitnessRows]) -> list[TemplateMatch]:
        """Algorithm 1, or with views Algorithm 4: what the batch's documents match, with those before and each other.

        Windows in documents count the documents that have been given so far, with the batch.
        """
        is_late = self._arrive(batch)
        self.relations.load(batch)
        self.views.prepare()
        found = [
            match
            for group in self._groups
            for text in self._texts(group, len(batch) > 1, is_late)
            for match in map(_match, self.relations.rows(text))
            if self._is_counted_in(match)
        ]
        self.relations.maintain()
        self.views.maintain()
        return found

    # -- queries

    def _add_templates(self) -> list[int]:
        """R_T for each template; the templates' numbers come back."""
        rows: dict[Template, list[tuple[Any, ...]]] = {}
        for qid, query in enumerate(self._queries):
            graph = minor(join_graph(query))
            template, places = template_of(graph)
            made = definitions(graph)
            codes = [self._codes.setdefault(made[place], len(self._codes)) for place in places]
            self._ask_for(template, codes)
            self._terms.append(tuple(Term(int(place >= graph.left), graph.nodes[place].variable) for place in places))
            window = query.joins[0].window
            length = ANY_LENGTH if window.nanoseconds is None else window.nanoseconds
            rows.setdefault(template, []).append((qid, *codes, length, query.joins[0].operator == "JOIN"))
        self.templates = list(rows)
        for number, (template, of_template) in enumerate(rows.items()):
            self.relations.add_template(f"R_T{number}", len(template.parents), of_template)
        return list(range(len(rows)))

    def _ask_for(self, template: Template, codes: list[int]) -> None:
        """Note which bindings and values a query needs."""
        equated = template.equated()
        for node, parent in enumerate(template.parents):
            if parent is not None:
                self.edges.add((codes[parent], codes[node]))
            elif node in equated:
                self.edges.add((codes[node], codes[node]))
        self.valued.update(codes[node] for join in template.joins for node in (join.left, join.right))

    def _group(self, number: int, state: SqlSource, batch: SqlSource) -> _TemplateGroup:
        template, name = self.templates[number], f"R_T{number}"
        return _TemplateGroup(
            conjunctive_query(template, name, state, batch),
            conjunctive_query(template, name, batch, batch),
            conjunctive_query(template, name, batch, state),
            bool(self.relations.rows(f"SELECT 1 FROM {name} WHERE either LIMIT 1")),
        )

    def text(self, number: int) -> str:
        """CQ_T of a template, as it joins the state with the current batch."""
        return self._groups[number].forward

    # -- documents and windows

    def _texts(self, group: _TemplateGroup, are_several: bool, is_late: bool) -> list[str]:
        texts = [group.forward]
        if are_several:
            texts.append(group.within)
        if group.has_either or is_late:
            texts.append(group.backward)
        return texts

    def _arrive(self, batch: Sequence[WitnessRows]) -> bool:
        """Note the batch's documents; whether one of them is earlier than one of the state."""
        latest = self._latest
        for one in batch:
            if one.docid in self._arrivals:
                raise ConfigurationError(f"document {one.docid}: expected a new docid, found it again")
            place = self._arrivals[one.docid] = one.timestamp, len(self._arrivals)
            self._latest = max(self._latest, one.timestamp)
            for stream, places in self._counted.items():
                if is_in_stream(Document("", stream=one.stream), stream):
                    insort(places, place)
        return any(one.timestamp < latest for one in batch)

    def _is_counted_in(self, match: TemplateMatch) -> bool:
        """Algorithm 3, for windows in documents: fewer than so many of the earlier one's stream lie between."""
        query = self._queries[match.qid]
        if (number := query.joins[0].window.documents) is None:
            return True
        places = self._arrivals[match.docid1], self._arrivals[match.docid2]
        earlier = 0 if places[0] < places[1] else 1
        counted = self._counted[query.blocks[earlier].stream]
        return bisect_left(counted, places[1 - earlier]) - bisect_right(counted, places[earlier]) < number


def _counted_streams(queries: Sequence[Xscl]) -> dict[str, list[tuple[int, int]]]:
    """The streams whose documents some window counts, with their documents in order: none yet."""
    return {
        block.stream: []
        for query in queries
        if query.joins and query.joins[0].window.documents
        for block in query.blocks
    }


def _match(row: tuple[Any, ...]) -> TemplateMatch:
    qid, docid1, docid2, *nodes, _ = row
    return TemplateMatch(qid, docid1, docid2, tuple(nodes))
