"""XSCL plans and documents in, what the plans find out: nested loops straight from the definitions, slow and plain.

Documents are given in the order of their arrival, with timestamps and different ids. They are read by lxml; paths,
tests and joins are worked out here, by nothing that the engine or the joins use.

A node is told by its `Place`, which any other implementation can work out for its own nodes:

    Place(3)                    an element: the fourth of its document in pre-order, counting elements from 0
    Place(3, "@k")              an attribute of that element, with its expanded name: `@{uri}k` if it is in a namespace
    Place(3, "text()", 1)       the second text that stands in that element itself; comments and instructions part texts
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lxml import etree

from oracle import instant_of
from weft.documents.document import Document, is_in_stream
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.plans.flwr import Slot
from weft.plans.instants import Instant
from weft.plans.plan import Always, And, Count, First, Has, Label, Link, Named, Not, Or, Path, Rank, Step, Unlike, Value
from weft.plans.plan import Test as Condition  # pytest would take `Test` for a class of tests
from weft.plans.walk import walk
from weft.plans.xscl import Block, Derivation, Predicate, Term, Xscl


class Place(NamedTuple):
    """Which node of its document a node is; see the top of the module."""

    element: int
    leaf: str = ""
    at: int = 0  # among the texts of the element


class Found(NamedTuple):
    """What one message is made of.

    `documents` has the ids of the blocks' documents, in the order of the blocks; of NOT FOLLOWED BY's block there is
    none. `nodes` has the nodes of the output variables: without SELECT of each block's `output`; with SELECT of the
    variables that its slots start from, each once, by their places in the plan, whatever their order in the SELECT.
    """

    documents: tuple[str, ...]
    nodes: tuple[Place, ...]


def oracle(queries: Sequence[Xscl], documents: Sequence[Document]) -> list[set[Found]]:
    """What each query finds, when all documents are there and all windows are closed."""
    trees = trees_of(documents)
    return [{_found(query, trees, row) for row in _rows(query, trees)} for query in queries]


def messages(query: Xscl, documents: Sequence[Document]) -> dict[Found, str]:
    """The text of each message of a query without SELECT; equal up to how XML may be written (compare it by C14N).

    What a message with an attribute or a text as an output looks like is not defined, nor is it here.
    """
    if query.select is not None:
        raise NotImplementedError("messages that SELECT builds")
    trees = trees_of(documents)
    return {_found(query, trees, row): _message(query, trees, row) for row in _rows(query, trees)}


def outputs(query: Xscl) -> tuple[Term, ...]:
    """The variables whose nodes tell messages apart."""
    is_absence = bool(query.joins) and query.joins[-1].operator == "NOT FOLLOWED BY"
    blocks = query.blocks[:-1] if is_absence else query.blocks
    if query.select is None:
        return tuple(Term(number, block.output) for number, block in enumerate(blocks))
    terms = [Term(number, place) for number, block in enumerate(blocks) for place in range(len(block.variables))]
    shown = {part.variable for part in walk(query.select) if isinstance(part, Slot)}
    return tuple(terms[variable] for variable in sorted(shown))


# -- joins

Binding = tuple[Place, ...]  # a node for each variable of a block
Row = tuple[tuple[int, Binding], ...]  # for each block a document, by its number, and a binding in it


def _rows(query: Xscl, trees: Sequence[Tree]) -> list[Row]:
    """The matches of a query: a document and a binding for each block, but for one that must be absent."""
    bound = [[list(bindings(block, tree)) for tree in trees] for block in query.blocks]

    def longer(row: Row, at: int) -> Iterator[Row]:
        """The row with each document and binding of the next block that the join allows."""
        for number in range(len(trees)):
            for binding in bound[at + 1][number]:
                more = (*row, (number, binding))
                if all(_allows(query, join, trees, more) for join in range(at + 1)):
                    yield more

    rows: list[Row] = [((number, binding),) for number in range(len(trees)) for binding in bound[0][number]]
    for at, join in enumerate(query.joins):
        if join.operator == "NOT FOLLOWED BY":
            rows = [row for row in rows if not any(longer(row, at))]
        else:
            rows = [more for row in rows for more in longer(row, at)]
    return rows


def _allows(query: Xscl, join: int, trees: Sequence[Tree], row: Row) -> bool:
    """Whether a join allows a row whose last block is new; another one's time has come before, or is still to come."""
    first, last = query.joins[join].span or (join, join + 1)
    if last != len(row) - 1:
        return True
    before = max((trees[number] for number, _ in row[first : join + 1]), key=lambda tree: tree.moment)
    behind = max((trees[number] for number, _ in row[join + 1 : last + 1]), key=lambda tree: tree.moment)
    if not _is_in_time(query, join, trees, before, behind):
        return False
    return all(_holds(predicate, trees, row) for predicate in query.joins[join].predicates)


def _is_in_time(query: Xscl, at: int, trees: Sequence[Tree], before: Tree, behind: Tree) -> bool:
    """Whether the join with this number allows these documents of the block before it and the block behind it."""
    join, window = query.joins[at], query.joins[at].window
    if before is behind:
        return False
    if join.operator != "JOIN" and behind.timestamp <= before.timestamp:
        return False
    if window.nanoseconds is not None and abs(behind.timestamp - before.timestamp) > window.nanoseconds:
        return False
    if window.documents is None:
        return True
    earlier, later = sorted((before, behind), key=lambda tree: tree.moment)
    stream = query.blocks[at if earlier is before else at + 1].stream
    between = [tree for tree in trees if earlier.moment < tree.moment < later.moment]
    return sum(is_in_stream(tree.document, stream) for tree in between) < window.documents


def _holds(predicate: Predicate, trees: Sequence[Tree], row: Row) -> bool:
    left, right = (
        derived(trees[row[term.block][0]].value(row[term.block][1][term.variable]), term.derived)
        for term in (predicate.left, predicate.right)
    )
    if isinstance(left, float) or isinstance(right, float):
        return COMPARISONS[predicate.operator](number(str(left)), number(str(right)))
    return holds(left, predicate.operator, right)


def _found(query: Xscl, trees: Sequence[Tree], row: Row) -> Found:
    nodes = tuple(row[term.block][1][term.variable] for term in outputs(query))
    return Found(tuple(trees[number].document.id for number, _ in row), nodes)


def _message(query: Xscl, trees: Sequence[Tree], row: Row) -> str:
    """The outputs of the blocks, in a new root if there are several; a block that must be absent has none."""
    texts = [trees[row[term.block][0]].xml(row[term.block][1][term.variable]) for term in outputs(query)]
    return texts[0] if len(texts) == 1 else f"<result>{''.join(texts)}</result>"


# -- values


def derived(text: str, derivations: Iterable[Derivation]) -> str | float:
    """What functions make of a text: libxml2 where XPath 1.0 has them; a number while it is one."""
    value: str | float = text
    for each in derivations:
        if isinstance(value, float) and each.name != "number":
            value = str(etree.XPath("string(number($v))")(_NOTHING, v=value))
        match each.name:
            case "normalize-space":
                value = str(etree.XPath("normalize-space($v)")(_NOTHING, v=value))
            case "substring":
                numbers = ", ".join(f"{one:f}" for one in each.arguments)
                value = str(etree.XPath(f"substring($v, {numbers})")(_NOTHING, v=value))
            case "lower-case":
                value = str(value).lower()
            case "upper-case":
                value = str(value).upper()
            case "number":
                value = value if isinstance(value, float) else number(value)
    return value


_NOTHING = etree.Element("nothing")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": operator.contains,
    "starts-with": str.startswith,
    "ends-with": str.endswith,
}
_NUMBER = re.compile(r"[ \t\r\n]*-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\r\n]*")


def holds(left: str, comparison: str, right: str) -> bool:
    """Whether two values stand in a relation: as texts for `=` and `!=`, else as numbers or as instants."""
    if comparison in ("=", "!="):
        return COMPARISONS[comparison](left, right)
    numbers = number(left), number(right)
    if all(math.isfinite(one) for one in numbers):
        return COMPARISONS[comparison](*numbers)
    one, other = instant(left), instant(right)
    return one is not None and other is not None and COMPARISONS[comparison](one, other)


def number(text: str) -> float:
    """What XPath's number() reads; not-a-number for what is none."""
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def instant(text: str) -> datetime | None:
    """What an ISO date or date-time tells; a date is its midnight, and what has no zone is UTC."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


# -- bindings


def bindings(block: Block, tree: Tree) -> Iterator[Binding]:
    """Every way to give each variable of a block a node of the document."""
    if not is_in_stream(tree.document, block.stream):
        return
    partial: list[Binding] = [()]
    for variable in block.variables:
        partial = [
            (*nodes, node)
            for nodes in partial
            for node in tree.reach(variable.links, DOCUMENT if variable.source is None else nodes[variable.source])
            if tree.passes(node, variable.where, variable.links[-1].path[-1])
        ]
    yield from partial


class Described(NamedTuple):
    """What there is to know about a node: `above` has the nodes it lies in, its parent first."""

    kind: Kind | None  # none for the document itself
    name: str
    value: str
    above: tuple[Place, ...]


#: Where absolute paths start: above the root element.
DOCUMENT = Place(-1)


class Tree:
    """A document as lxml reads it, with its nodes in document order."""

    def __init__(self, document: Document, arrival: int) -> None:
        assert document.nanoseconds is not None, "documents have timestamps here"
        self.document, self.timestamp = document, document.nanoseconds
        self.moment = document.nanoseconds, arrival  # the place in the order of all documents
        self._elements: list[Any] = []
        root = etree.fromstring(document.data)
        self._nodes = {DOCUMENT: Described(None, "", str(root.xpath("string()")), ())}
        self._add(root, (DOCUMENT,))

    def _add(self, element: Any, above: tuple[Place, ...]) -> None:
        place = Place(len(self._elements))
        self._elements.append(element)
        self._nodes[place] = Described(Kind.ELEMENT, element.tag, str(element.xpath("string()")), above)
        for name, value in element.attrib.items():
            self._nodes[Place(place.element, f"@{name}")] = Described(Kind.ATTRIBUTE, name, value, (place, *above))
        texts = 0
        for child in (None, *element):
            if child is not None and isinstance(child.tag, str):  # comments and instructions have no name
                self._add(child, (place, *above))
            if text := element.text if child is None else child.tail:
                self._nodes[Place(place.element, "text()", texts)] = Described(Kind.TEXT, "", text, (place, *above))
                texts += 1

    def value(self, node: Place) -> str:
        """XPath's string-value."""
        return self._nodes[node].value

    def xml(self, node: Place) -> str:
        """The XML of an element."""
        if node.leaf:
            raise NotImplementedError("the XML of an attribute or a text")
        return str(etree.tostring(self._elements[node.element], with_tail=False, encoding="unicode"))

    def reach(self, links: Iterable[Link], start: Place) -> list[Place]:
        """The nodes that links lead to, in document order."""
        nodes = [start]
        for link in links:
            step = link.path[-1] if link.path else None
            nodes = [node for node in self.follow(link.path, nodes) if self.passes(node, link.test, step)]
        return nodes

    def follow(self, path: Path, nodes: list[Place]) -> list[Place]:
        """The nodes that a path leads to, in document order."""
        for step in path:
            starts = set(nodes)
            nodes = [
                place
                for place, node in self._nodes.items()
                if _is_meant(node, step) and not starts.isdisjoint(node.above if step.deep else node.above[:1])
            ]
        return nodes

    def passes(self, node: Place, test: Condition | None, step: Step | None) -> bool:
        """Whether a node, that the step led to, passes a test."""
        match test:
            case None:
                return True
            case Always(is_true):
                return is_true
            case And(tests):
                return all(self.passes(node, part, step) for part in tests)
            case Or(tests):
                return any(self.passes(node, part, step) for part in tests)
            case Not(inner):
                return not self.passes(node, inner, step)
            case Value(comparison, constant) if comparison in COMPARISONS:
                value = self.value(node)
                if isinstance(constant, Instant):
                    found = instant_of(value, constant.type)
                    return found is not None and COMPARISONS[comparison](found.timestamp(), constant.seconds)
                return COMPARISONS[comparison](number(value) if isinstance(constant, float) else value, constant)
            case Has(path, inner):
                return any(self.passes(end, inner, path[-1]) for end in self.follow(path, [node]))
            case First(links, inner):
                return any(self.passes(end, inner, None) for end in self.reach(links, node)[:1])
            case Count(links, comparison, constant):
                ends = self.reach(links, node)
                return bool(ends) and COMPARISONS[comparison](len(ends), constant)
            case Named(label):
                return self._nodes[node].kind is Kind.ELEMENT and _is_named(self._nodes[node].name, label)
            case Rank() if step is not None:
                return self._has_rank(node, test, step)
        raise NotImplementedError(test)

    def _has_rank(self, node: Place, test: Rank, step: Step) -> bool:
        """Whether the node's position is right among those children of its parent that the step leads to."""
        siblings = self.follow((Step(step.label, False, step.kind),), [self._nodes[node].above[0]])
        ranked = [sibling for sibling in siblings if self.passes(sibling, test.before, step)]
        limit = len(ranked) if test.number is None else test.number
        return node in ranked and COMPARISONS[test.operator](ranked.index(node) + 1, limit)


def trees_of(documents: Sequence[Document]) -> list[Tree]:
    """The trees of documents in the order of their arrival."""
    assert len({document.id for document in documents}) == len(documents), "documents have different ids here"
    return [Tree(document, arrival) for arrival, document in enumerate(documents)]


def _is_meant(node: Described, step: Step) -> bool:
    return node.kind is step.kind and (step.kind is Kind.TEXT or _is_named(node.name, step.label))


def _is_named(name: str, label: Label) -> bool:
    if isinstance(label, Unlike):
        return not any(_is_named(name, one) for one in label.labels)
    uri, _, local = name.rpartition("}")
    return label in ("*", name, f"*:{local}", f"{uri}}}*")


# -- Weft's nodes


def place_in(table: NodeTable, node: int) -> Place:
    """The place of a node of a node table."""
    if node < table.elements:
        return Place(node - table.document.searchsorted(table.document[node]).item())
    owner = place_in(table, int(table.parent[node])).element
    if node < table.first_text:
        return Place(owner, f"@{table.names[table.attribute_name[node - table.elements]]}")
    before = table.parent[table.first_text : node]
    return Place(owner, "text()", int((before == table.parent[node]).sum()))
