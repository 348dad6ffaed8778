"""Servers with their queries and documents of the stream in, the problem of choosing views for them out.

Candidates are the expressions that queries ask for, elements around several of them, and positions of those that come
more than once. How often each has one node, how large elements are, and how many documents pass the tests of a query
is counted in the documents.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from time import perf_counter

import numpy as np

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.errors import ConfigurationError, QueryError
from weft.headers.asked import Writer, asked_with_tests
from weft.headers.expressions import Expression, pattern_of, with_tests
from weft.headers.selection.instance import Instance
from weft.headers.selection.problem import BANDWIDTH, CandidateView, Conjunct, Problem, ServerLoad, Service
from weft.languages import Plan, parse
from weft.plans.plan import Link, Rank, Value
from weft.plans.show import show_test

#: What look-ups cost, in seconds, as measured: a plain value, and an element that is parsed, with each of its bytes.
LOOK_UP, NESTED, NESTED_BYTE = 0.5e-6, 20e-6, 60e-9
_BYTES_PRESENT, _BYTES_ABSENT = 2.5, 1.0  # of an entry
_MOST_POSITIONS = 3
_PARSE = 1e-3  # seconds, where no document tells
_MOST_TESTS = 20_000  # whose shares are counted
#: An expression by its number, and the tests that some of its nodes must pass.
_TestedExpression = tuple[int, tuple[Value | None, ...]]

_KEYS = ("server", "documents", "queries")
_MOST = 1e300  # documents: so many can still be added up


@dataclass(frozen=True, slots=True)
class ServerQueries:
    """What a server asks, and how many documents reach it."""

    name: str
    plans: tuple[Plan, ...]
    documents: float = 1.0


def read_workload(path: str | Path, namespaces: Mapping[str, str] | None = None) -> list[ServerQueries]:
    """The servers of a file: one JSON object a line, with "queries", and if you like "server" and "documents"."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    return [_server(line, f"{path}:{at}", namespaces) for at, line in enumerate(lines, start=1) if line.strip()]


def _server(line: str, place: str, namespaces: Mapping[str, str] | None) -> ServerQueries:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{place}: expected a JSON object, found {error}") from None
    queries = record.get("queries") if isinstance(record, dict) else None
    weight = record.get("documents", 1.0) if isinstance(record, dict) else None
    if isinstance(record, dict) and (unknown := next(iter(record.keys() - _KEYS), None)) is not None:
        raise ConfigurationError(f"{place}: expected the keys {', '.join(_KEYS)}, found {unknown!r}")
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise ConfigurationError(f'{place}: expected "queries" as a list of texts, found {line.strip()[:60]}')
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight <= _MOST:
        raise ConfigurationError(f'{place}: expected a number of "documents", found {weight!r}')
    try:
        plans = tuple(parse(query, None, namespaces) for query in queries)
    except QueryError as error:
        raise ConfigurationError(f"{place}: {error}") from None
    return ServerQueries(str(record.get("server", place)), plans, float(weight))


@dataclass(frozen=True, slots=True)
class ViewProblem:
    """A problem with the expressions of its servers, and the XPath of each candidate with the prefixes in them."""

    problem: Problem
    expressions: tuple[str, ...]
    namespaces: dict[str, str] = field(default_factory=dict)

    def texts(self, views: Iterable[int]) -> list[str]:
        """The XPaths of chosen candidates."""
        return [self.problem.views[view].expression for view in views]

    def instance(self) -> Instance:
        """The paper's problem: which expressions each server needs."""
        servers = (
            frozenset(part.expression for query in server.queries for part in query) for server in self.problem.servers
        )
        return Instance(self.expressions, tuple(servers), tuple(server.weight for server in self.problem.servers))


def make_problem(
    servers: Sequence[ServerQueries],
    documents: Sequence[Document],
    *,
    parse_seconds: float | None = None,
    bandwidth: float = BANDWIDTH,
    links: float | None = None,
) -> ViewProblem:
    """The problem of choosing views for servers, by what documents of the stream show.

    A byte of a header takes time on each link that it goes over: `bandwidth` is the bytes a second of a link, `links`
    how many a header goes over for each document of the server that most of them reach. None: one into each server
    for each document that reaches it.
    """
    if not bandwidth > 0:
        raise ConfigurationError(f"bandwidth: expected bytes a second, more than none, found {bandwidth!r}")
    candidates = _Candidates()
    queries = [[candidates.conjuncts(plan) for plan in server.plans] for server in servers]
    started = perf_counter()
    table = read(documents, Limits())
    seconds = (perf_counter() - started) / len(documents) if documents else _PARSE
    candidates.count(table)
    loads = candidates.loads(servers, queries, table)
    cost = seconds if parse_seconds is None else parse_seconds
    total = max((server.documents for server in servers), default=1.0)
    views, services = candidates.offered()
    problem = Problem(loads, views, services, cost, 1 / bandwidth, links, total)
    return ViewProblem(problem, tuple(candidates.numbers), candidates.writer.namespaces)


class _Candidates:
    """The expressions of all queries, and the views that may answer them."""

    def __init__(self) -> None:
        self.writer = Writer()
        self.numbers: dict[str, int] = {}  # of expressions, by their XPath
        self._expressions: list[Expression] = []
        self._nodes: dict[Expression, list[int]] = {}  # by candidate: how many nodes each document has
        self._sizes: dict[Expression, list[int]] = {}  # and how large its elements are

    def conjuncts(self, plan: Plan) -> list[_TestedExpression]:
        """A query by the numbers of its expressions, with their tests; what cannot be a view is left out."""
        found = asked_with_tests(plan).items()
        written = [(each, tests, text) for each, tests in found if (text := self.writer.write(each)) is not None]
        return [(self._number(each, text), tests) for each, tests, text in written]

    def loads(
        self,
        servers: Sequence[ServerQueries],
        queries: Sequence[Sequence[Sequence[_TestedExpression]]],
        table: NodeTable,
    ) -> tuple[ServerLoad, ...]:
        """What servers ask, with the share of documents that pass each test of a query that has several."""
        several = {part: None for its in queries for query in its if len(query) > 1 for part in query if part[1]}
        shares = self._shares(list(several)[:_MOST_TESTS], table)
        return tuple(
            ServerLoad(
                tuple(tuple(Conjunct(part[0], shares.get(part), _name(part[1])) for part in query) for query in its),
                server.documents,
                server.name,
            )
            for server, its in zip(servers, queries, strict=True)
        )

    def _shares(self, parts: Sequence[_TestedExpression], table: NodeTable) -> dict[_TestedExpression, float]:
        """The share of documents with nodes that pass the tests on an expression; never quite nothing nor all."""
        number, engine = len(table.documents), Engine()
        tests = list(dict.fromkeys((at, test) for at, its in parts for test in its))
        for key, (at, test) in enumerate(tests):
            expression = self._expressions[at]
            engine.add(key, pattern_of(expression if test is None else with_tests(expression, [test])))
        if not number or not tests:
            return {}
        document, which, _ = engine.match(table).nodes()
        passed = np.zeros((len(tests), number), bool)
        passed[which, document] = True
        row = {test: at for at, test in enumerate(tests)}
        return {
            (at, its): float((passed[[row[at, test] for test in its]].all(axis=0).sum() + 0.5) / (number + 1))
            for at, its in parts
        }

    def _number(self, expression: Expression, text: str) -> int:
        number = self.numbers.setdefault(text, len(self.numbers))
        if number == len(self._expressions):
            self._expressions.append(expression)
        return number

    def count(self, table: NodeTable) -> None:
        """Look at documents: how many nodes each candidate has in them."""
        self._count(table, [*self._expressions, *self._around()])
        self._count(table, [each for family in self._positions().values() for each in family])

    def _count(self, table: NodeTable, expressions: Iterable[Expression]) -> None:
        engine, new = Engine(), [each for each in dict.fromkeys(expressions) if each not in self._nodes]
        for number, expression in enumerate(new):
            engine.add(number, pattern_of(expression))
        document, subscription, node = engine.match(table).nodes()
        for number, expression in enumerate(new):
            inside = subscription == number
            self._nodes[expression] = np.bincount(document[inside], minlength=len(table.documents)).tolist()
            rows = node[inside][node[inside] < table.elements]
            self._sizes[expression] = (table.end[rows] - table.start[rows]).tolist()

    def _around(self) -> list[Expression]:
        """Elements, other than the root, that several expressions lie in."""
        inside = Counter(
            each[:size] for each in self._expressions for size in range(2, len(each)) if _is_element(each[size - 1])
        )
        return [each for each, number in inside.items() if number > 1]

    def _positions(self) -> dict[int, list[Expression]]:
        """For expressions that come more than once, but not too often: each by its positions, by its number."""
        families = {}
        for number, expression in enumerate(self._expressions):
            most = max(self._nodes[expression], default=0)
            place = next((at for at in range(len(expression) - 1, 0, -1) if _can_rank(expression[at])), None)
            if 1 < most <= _MOST_POSITIONS and place is not None:
                families[number] = [_ranked(expression, place, position) for position in range(1, most + 1)]
        return families

    def offered(self) -> tuple[tuple[CandidateView, ...], tuple[Service, ...]]:
        """The candidates, and what each can do."""
        views: dict[Expression, int] = {}
        made: list[CandidateView] = []

        def view(expression: Expression) -> int:
            text = self.writer.write(expression)
            assert text is not None, "candidates can be written"
            if expression not in views:
                views[expression] = len(made)
                made.append(CandidateView(text, self._bytes(expression)))
            return views[expression]

        services = [
            Service(number, (view(each),), LOOK_UP, self._hit(each)) for number, each in enumerate(self._expressions)
        ]
        for around in self._around():
            cost = NESTED + NESTED_BYTE * (mean(self._sizes[around]) if self._sizes[around] else 0.0)
            services += [
                Service(number, (view(around),), cost, self._hit(around))
                for number, each in enumerate(self._expressions)
                if len(each) > len(around) and each[: len(around)] == around
            ]
        for number, family in self._positions().items():
            hit = mean(all(self._nodes[each][at] <= 1 for each in family) for at in range(len(self._nodes[family[0]])))
            services.append(Service(number, tuple(map(view, family)), LOOK_UP * len(family), hit))
        return tuple(made), tuple(services)

    def _hit(self, expression: Expression) -> float:
        """The share of documents that have at most one node."""
        found = self._nodes[expression]
        return mean(number <= 1 for number in found) if found else 1.0

    def _bytes(self, expression: Expression) -> float:
        found = self._nodes[expression]
        share = mean(number == 1 for number in found) if found else 1.0
        return _BYTES_ABSENT + share * (_BYTES_PRESENT - _BYTES_ABSENT)


def _name(tests: tuple[Value | None, ...]) -> str:
    """What feedback calls the test of a conjunct; nothing where it is not one test on a value."""
    return show_test(tests[0]) if len(tests) == 1 and tests[0] is not None else ""


def _is_element(link: Link) -> bool:
    return link.path[0].kind is Kind.ELEMENT


def _can_rank(link: Link) -> bool:
    return _is_element(link) and not link.path[0].deep and link.test is None


def _ranked(expression: Expression, place: int, number: int) -> Expression:
    link = replace(expression[place], test=Rank(None, "=", float(number)))
    return (*expression[:place], link, *expression[place + 1 :])
