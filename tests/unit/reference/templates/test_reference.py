"""The reference: the paper's example row by row, and nested loops over the definition on random data."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from random import Random
from typing import Any, get_args

import pytest
from lxml import etree
from pyspark.sql import SparkSession

from weft.documents.document import Document, is_in_stream
from weft.documents.moment import SECOND
from weft.errors import ConfigurationError
from weft.languages.xscl import parse
from weft.plans.plan import And, Has, Link, Path, Test, Value
from weft.plans.xscl import Block, Predicate, Xscl
from weft.reference.templates.reference import Reference, TemplateMatch, ViewMode
from weft.reference.templates.relations import WitnessReading, WitnessRows
from weft.reference.templates.view_cache import ViewCache
from xscl_paper import BLOG, BOOK

MODES: tuple[ViewMode, ...] = get_args(ViewMode)

# -- a first stage: definitions and documents in, witnesses out


class Tree:
    """A document whose nodes are its elements in document order."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.elements = list(etree.fromstring(document.data).iter())
        self.places = {element: place for place, element in enumerate(self.elements)}

    def value(self, node: int) -> str:
        return "".join(self.elements[node].itertext())

    def reach(self, links: Sequence[Link], node: int | None = None) -> list[int]:
        """The nodes that the links lead to, from a node or from the root."""
        nodes: list[int | None] = [node]
        for link in links:
            ends = {end for start in nodes for end in self.follow(link.path, start)}
            nodes = [end for end in sorted(ends) if self.passes(end, link.test)]
        return [end for end in nodes if end is not None]

    def follow(self, path: Path, node: int | None) -> set[int]:
        nodes: set[int | None] = {node}
        for step in path:
            nodes = {end for start in nodes for end in self.below(start, step.deep) if self.is_named(end, step.label)}
        return {end for end in nodes if end is not None}

    def below(self, node: int | None, deep: bool) -> list[int]:
        if node is None:
            return list(range(len(self.elements))) if deep else [0]
        element = self.elements[node]
        return [self.places[other] for other in (element.iterdescendants() if deep else element)]

    def is_named(self, node: int, label: object) -> bool:
        return label == "*" or self.elements[node].tag == label

    def passes(self, node: int, test: Test | None) -> bool:
        match test:
            case None:
                return True
            case And(tests):
                return all(self.passes(node, part) for part in tests)
            case Has(path, inner):
                return any(self.passes(end, inner) for end in self.follow(path, node))
            case Value("=", str(constant)):
                return self.value(node) == constant
        raise NotImplementedError(test)


def number_of(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*-?(\d+(\.\d*)?|\.\d+)\s*", text) else None


def instant_of(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


class FirstStage:
    """Witnesses of documents, for the variables that a reference wants; docids count the documents."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.strings: dict[str, int] = {}
        self.documents = 0

    def witnesses(self, document: Document) -> WitnessRows:
        tree, variables, self.documents = Tree(document), self.reference.variables, self.documents + 1
        nodes: list[list[int]] = []
        for variable in variables:
            nodes.append(_bound(tree, variable) if is_in_stream(document, variable.stream) else [])
        bindings = [
            (one, two, start, end)
            for one, two in sorted(self.reference.edges)
            for start in nodes[one]
            for end in ([start] if one == two else tree.reach(variables[two].links, start))
            if end in nodes[two]
        ]
        bound = {node for one, two, start, end in bindings for node in (start, end)}
        valued = {node for variable in self.reference.valued for node in nodes[variable]}
        texts = {node: tree.value(node) for node in sorted(bound | valued)}
        codes = {
            text: self.strings.setdefault(text, len(self.strings)) for node, text in texts.items() if node in valued
        }
        readings = [WitnessReading(code, number_of(text), instant_of(text)) for text, code in codes.items()]
        return WitnessRows(
            self.documents,
            document.nanoseconds or 0,
            document.stream,
            tuple(bindings),
            tuple((node, codes[text] if node in valued else None) for node, text in texts.items()),
            tuple(one for one in readings if one.number is not None or one.instant is not None),
        )


def _bound(tree: Tree, variable: Any) -> list[int]:
    if variable.parent is None:
        return tree.reach(variable.links)
    return sorted({end for start in _bound(tree, variable.parent) for end in tree.reach(variable.links, start)})


def run(reference: Reference, batches: Sequence[Sequence[Document]]) -> list[TemplateMatch]:
    stage = FirstStage(reference)
    return [
        match for batch in batches for match in reference.process([stage.witnesses(document) for document in batch])
    ]


# -- the paper's example

QUERIES = (
    "S//book->x1[.//author->x2][.//title->x3] FOLLOWED BY{x2=x5 AND x3=x6, 10 seconds}"
    " S//blog->x4[.//author->x5][.//title->x6]",
    "S//book->x1[.//author->x2][.//category->x7] FOLLOWED BY{x2=x5 AND x7=x8, 20 seconds}"
    " S//blog->x4[.//author->x5][.//category->x8]",
    "S//blog->x4[.//author->x5][.//title->x6] FOLLOWED BY{x5=x5' AND x6=x6', 30 seconds}"
    " S//blog->x4'[.//author->x5'][.//title->x6']",
)
D1, D2 = Document(BOOK, "d1", "S", 1.0), Document(BLOG, "d2", "S", 5.0)


def example(views: ViewMode = "none") -> tuple[Reference, FirstStage]:
    reference = Reference([parse(query) for query in QUERIES], views)
    return reference, FirstStage(reference)


def names(reference: Reference) -> list[str]:
    """The paper's names of the variables, by their codes."""
    known = {"book": "x1", "book author": "x2", "book title": "x3", "book category": "x7"}
    known |= {"blog": "x4", "blog author": "x5", "blog title": "x6", "blog category": "x8"}
    found = []
    for variable in reference.variables:
        parts = [variable.links[0].path[0].label]
        if variable.parent is not None:
            parts.insert(0, variable.parent.links[0].path[0].label)
        found.append(known[" ".join(str(part) for part in parts)])
    return found


def test_the_three_queries_are_one_template_with_the_rows_of_table_4a() -> None:
    reference, _ = example()

    name = names(reference).__getitem__
    rows = reference.relations.rows("SELECT * FROM R_T0 ORDER BY qid")

    assert len(reference.templates) == 1
    assert [(f"Q{qid + 1}", *map(name, codes), wl) for qid, *codes, wl, _ in rows] == [
        ("Q1", "x1", "x2", "x3", "x4", "x5", "x6", 10 * SECOND),
        ("Q2", "x1", "x2", "x7", "x4", "x5", "x8", 20 * SECOND),
        ("Q3", "x4", "x5", "x6", "x4", "x5", "x6", 30 * SECOND),
    ]


def test_the_relations_after_the_first_and_with_the_second_document_are_those_of_table_4b_to_e() -> None:
    reference, stage = example()
    reference.process([stage.witnesses(D1)])
    reference.relations.load([stage.witnesses(D2)])
    name = names(reference).__getitem__
    text = {code: text for text, code in stage.strings.items()} | {None: "-"}

    def doc(relation: str) -> set[tuple[int, int, str]]:
        return {
            (docid, node, text[code]) for docid, node, code in reference.relations.rows(f"SELECT * FROM {relation}")
        }

    def bins(relation: str) -> list[tuple[Any, ...]]:
        rows = reference.relations.rows(f"SELECT docid, var1, var2, node1, node2 FROM {relation}")
        return sorted((docid, name(one), name(two), *nodes) for docid, one, two, *nodes in rows)

    assert doc("R_doc") == {
        (1, 0, "-"),
        (1, 2, "Danny Ayers"),
        (1, 3, "Andrew Watt"),
        (1, 4, "Beginning RSS and Atom Programming"),
        (1, 5, "Scripting & Programming"),
        (1, 6, "Web Site Development"),
    }
    assert bins("R_bin") == [
        (1, "x1", "x2", 0, 2),
        (1, "x1", "x2", 0, 3),
        (1, "x1", "x3", 0, 4),
        (1, "x1", "x7", 0, 5),
        (1, "x1", "x7", 0, 6),
    ]
    assert doc("R_docW") == {
        (2, 0, "-"),
        (2, 2, "Danny Ayers"),
        (2, 3, "Beginning RSS and Atom Programming"),
        (2, 4, "Book Announcement"),
        (2, 5, "Scripting & Programming"),
    }
    assert bins("R_binW") == [
        (2, "x4", "x5", 0, 2),
        (2, "x4", "x6", 0, 3),
        (2, "x4", "x8", 0, 4),
        (2, "x4", "x8", 0, 5),
    ]
    assert reference.relations.rows("SELECT * FROM R_docTS") == [(1, SECOND)]
    assert reference.relations.rows("SELECT * FROM R_docTSW") == [(2, 5 * SECOND)]
    assert sorted(reference.relations.rows(reference.text(0))) == [  # table 4f, with the current document's id
        (0, 1, 2, 0, 2, 4, 0, 2, 3, 10 * SECOND),
        (1, 1, 2, 0, 2, 5, 0, 2, 5, 20 * SECOND),
    ]


@pytest.mark.parametrize("views", MODES)
@pytest.mark.parametrize("batches", [[[D1], [D2]], [[D1, D2]]], ids=["one by one", "in one batch"])
def test_the_example_gives_the_rows_of_table_4f(views: ViewMode, batches: list[list[Document]]) -> None:
    reference, _ = example(views)

    found = run(reference, batches)

    assert sorted(found) == [TemplateMatch(0, 1, 2, (0, 2, 4, 0, 2, 3)), TemplateMatch(1, 1, 2, (0, 2, 5, 0, 2, 5))]


# -- nested loops over the definition

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def bindings(block: Block, tree: Tree) -> Iterator[tuple[int, ...]]:
    if not is_in_stream(tree.document, block.stream):
        return
    partial: list[tuple[int, ...]] = [()]
    for variable in block.variables:
        partial = [
            (*nodes, node)
            for nodes in partial
            for node in tree.reach(variable.links, None if variable.source is None else nodes[variable.source])
        ]
    yield from partial


def holds(predicate: Predicate, left: str, right: str) -> bool:
    if predicate.operator in ("=", "!="):
        return (left == right) == (predicate.operator == "=")
    for read in (number_of, instant_of):
        one, other = read(left), read(right)
        if one is not None and other is not None:
            return bool(COMPARE[predicate.operator](one, other))
    return False


def is_in_window(query: Xscl, documents: Sequence[Document], one: int, other: int) -> bool:
    join, times = query.joins[0], [document.nanoseconds or 0 for document in documents]
    if one == other or (join.operator == "FOLLOWED BY" and times[other] <= times[one]):
        return False
    if join.window.nanoseconds is not None:
        return abs(times[other] - times[one]) <= join.window.nanoseconds
    if join.window.documents is None:
        return True
    order = sorted(range(len(documents)), key=lambda at: (times[at], at))
    first, last = sorted((order.index(one), order.index(other)))
    stream = query.blocks[0 if order[first] == one else 1].stream
    return sum(is_in_stream(documents[at], stream) for at in order[first + 1 : last]) < join.window.documents


def nested_loops(queries: Sequence[Xscl], documents: Sequence[Document], reference: Reference) -> set[TemplateMatch]:
    trees, found = [Tree(document) for document in documents], set()
    for qid, query in enumerate(queries):
        bound = [[list(bindings(block, tree)) for tree in trees] for block in query.blocks]
        for one, other in product(range(len(documents)), repeat=2):
            if not is_in_window(query, documents, one, other):
                continue
            for left, right in product(bound[0][one], bound[1][other]):
                if all(
                    holds(p, trees[one].value(left[p.left.variable]), trees[other].value(right[p.right.variable]))
                    for p in query.joins[0].predicates
                ):
                    nodes = tuple((left, right)[term.block][term.variable] for term in reference.terms(qid))
                    found.add(TemplateMatch(qid, one + 1, other + 1, nodes))
    return found


def random_document(random: Random, timestamp: float) -> Document:
    def element(depth: int) -> str:
        name = random.choice("abcc") if depth else "a"
        below = [element(depth + 1) for _ in range((random.randint(2, 5), random.randint(-1, 2), 0)[depth])]
        text = random.choice(["2", "2", "10", "2024-01-02", "2024-01-10"]) if not below else ""
        return f"<{name}>{text}{''.join(below)}</{name}>"

    return Document(element(0), stream=random.choice(["S", "S", "S", "T", ""]), timestamp=timestamp)


def random_block(random: Random, prefix: str) -> tuple[str, list[str]]:
    variables: list[str] = []

    def tree(path: str, depth: int) -> str:
        variables.append(f"{prefix}{len(variables)}")
        text = f"{path}{random.choice('bcc*') if depth else 'a'}->{variables[-1]}"
        if random.random() < 0.1:
            text += f"[{random.choice(['b', './/c'])}]"
        for _ in range(random.randint(1, 2) if depth == 0 or random.random() < 0.25 else 0):
            if len(variables) < 5 and depth < 2:
                text += f"[{tree(random.choice(['', './/', './/', './/']), depth + 1)}]"
        return text

    return random.choice("SSSSST") + tree("//", 0), variables


def random_query(random: Random) -> str:
    (left, lefts), (right, rights) = random_block(random, "x"), random_block(random, "y")
    lefts, rights = lefts[1:] * 6 + lefts[:1], rights[1:] * 6 + rights[:1]  # whole documents are seldom equal
    predicates = [f"{random.choice(lefts)} = {random.choice(rights)}"]
    for _ in range(random.randint(0, 2)):
        compared = random.choice(["=", "=", "=", "!=", "<", "<=", ">", ">="])
        predicates.append(f"{random.choice(lefts)} {compared} {random.choice(rights)}")
    window = random.choice(["2 seconds", "1 documents", "2 documents", "infinite"])
    return f"{left} {random.choice(['JOIN', 'FOLLOWED BY'])}{{{' AND '.join(predicates)}, {window}}} {right}"


def in_batches(random: Random, documents: list[Document]) -> list[list[Document]]:
    batches: list[list[Document]] = [[]]
    for document in documents:
        if random.random() < 0.6:
            batches.append([])
        batches[-1].append(document)
    return [batch for batch in batches if batch]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_all_view_modes_find_what_nested_loops_find(seed: int) -> None:
    random = Random(seed)
    queries = [parse(random_query(random)) for _ in range(12)]
    times = sorted(random.randint(0, 6) for _ in range(7))
    documents = [random_document(random, float(time)) for time in times]
    batches = in_batches(random, documents)

    for views in MODES:
        reference = Reference(queries, views, bound=2)
        found = run(reference, batches)

        assert len(found) == len(set(found))
        assert set(found) == nested_loops(queries, documents, reference), views


@pytest.mark.parametrize("views", MODES)
def test_documents_that_come_late_are_joined_too(views: ViewMode) -> None:
    queries = [parse(f"S//a->x {how}{{x = y, 3 seconds}} S//b->y") for how in ("FOLLOWED BY", "JOIN")]
    documents = [Document(f"<{name}>1</{name}>", stream="S", timestamp=time) for name, time in (("b", 5.0), ("a", 3.0))]
    reference = Reference(queries, views)

    found = run(reference, [[document] for document in documents])

    assert set(found) == {TemplateMatch(0, 2, 1, (0, 0)), TemplateMatch(1, 2, 1, (0, 0))}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (WitnessReading(1, 1.0, 9.0), WitnessReading(2, 2.0, 3.0), True),
        (WitnessReading(1, 2.0, 3.0), WitnessReading(2, 1.0, 9.0), False),
        (WitnessReading(1, None, 3.0), WitnessReading(2, 1.0, 9.0), True),
        (WitnessReading(1, 1.0, None), WitnessReading(2, None, 9.0), False),
    ],
)
def test_values_are_compared_as_numbers_if_both_are_and_else_as_instants(
    left: WitnessReading, right: WitnessReading, expected: bool
) -> None:
    query = parse("S//a->x[b->y][c->z] JOIN{y = v AND z < w, infinite} T//d->u[b->v][c->w]")
    reference = Reference([query])
    labels = [variable.pattern().path[-1].label for variable in reference.variables]
    batch = []
    for docid, (top, reading) in enumerate(zip("ad", (left, right), strict=True)):
        edges = [(one, two) for one, two in reference.edges if labels[one] == top]
        nodes = {"b": 1, "c": 2}
        bound = tuple((one, two, 0, nodes[str(labels[two])]) for one, two in edges)
        batch.append(WitnessRows(docid, 0, "", bound, ((1, 0), (2, reading.strval)), (reading,)))

    assert bool(reference.process(batch)) is expected


def test_a_docid_comes_once() -> None:
    reference, stage = example()
    witnesses = stage.witnesses(D1)
    reference.process([witnesses])

    with pytest.raises(ConfigurationError, match="document 1: expected a new docid"):
        reference.process([witnesses])


# -- the view cache


def cache_of(reference: Reference) -> ViewCache:
    assert isinstance(reference.views, ViewCache)
    return reference.views


def test_the_view_cache_keeps_the_slices_that_were_used_last_within_its_bound() -> None:
    reference = Reference([parse("S//a->x FOLLOWED BY{x = y, infinite} S//a->y")], "cache", bound=2)
    texts = ["1", "2", "3", "1", "2", "3", "3", "1"]
    documents = [Document(f"<a>{text}</a>", stream="S", timestamp=float(at)) for at, text in enumerate(texts)]

    found = run(reference, [[document] for document in documents])

    cache = cache_of(reference)
    assert len(found) == 3 + 1 + 3
    assert (cache.hits, cache.misses, len(cache)) == (1, 4, 2)
    kept = reference.relations.rows("SELECT strval, count(*) FROM VC GROUP BY strval ORDER BY strval")
    assert kept == [(0, 3), (2, 3)]  # all rows of the values "1" and "3", those of the last documents too


def test_a_bound_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least 0 slices, found -1"):
        Reference([], "cache", bound=-1)


# -- the same text elsewhere


@pytest.mark.slow
@pytest.mark.parametrize("views", ["none", "materialized"])
def test_the_text_of_a_template_runs_on_spark_too(spark: SparkSession, views: ViewMode) -> None:
    query = "S//book->x1[.//author->x2][.//title->x3] FOLLOWED BY{x2=x5 AND x3!=x6 AND x3<=x6, 10 seconds}"
    queries = [*QUERIES, f"{query} S//blog->x4[.//author->x5][.//category->x6]"]
    reference = Reference([parse(text) for text in queries], views)
    stage = FirstStage(reference)
    reference.process([stage.witnesses(D1)])
    reference.relations.load([stage.witnesses(D2)])
    reference.views.prepare()

    tables = reference.relations.rows("SELECT table_name FROM information_schema.tables")
    for (table,) in tables:
        frame = reference.relations.connection.sql(f"SELECT * FROM {table}").to_arrow_table()
        spark.createDataFrame(frame).createOrReplaceTempView(table)

    for number in range(len(reference.templates)):
        text = reference.text(number)
        assert sorted(map(tuple, spark.sql(text).collect())) == sorted(reference.relations.rows(text))
    for (table,) in tables:
        spark.catalog.dropTempView(table)
