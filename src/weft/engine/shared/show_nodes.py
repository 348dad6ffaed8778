"""Nodes of the shared plan in, lines for people out: what runs, in which order, and what brings it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

from weft.engine.shared.constants import TEXT_INDEXES
from weft.engine.shared.plan import NOTHING, Chain, NodeKind, SharedPlan
from weft.plans.plan import Label, Named, Operator, Path, Rank, Value
from weft.plans.show import Line, show_path, show_test

_TEXT_TESTS = ("contains", "starts-with", "ends-with", "matches")


class NodeLines:
    """The nodes of one shared plan as text. A node that stands in several conditions is worked out once for all."""

    def __init__(self, shared: SharedPlan) -> None:
        self._shared = shared
        self._told: set[int] = set()

    @cached_property
    def _ways(self) -> dict[int, Any]:
        return self._shared.states.ways()

    @cached_property
    def _users(self) -> Counter[int]:
        """How many nodes are made of each."""
        return Counter(part for node in range(len(self._shared)) for part in set(self.parts(node)))

    def path(self, state: int) -> str:
        """The path to a state, as XPath writes it."""
        steps = []
        while state in self._ways:
            state, step = self._ways[state]
            steps.append(step)
        return show_path(tuple(reversed(steps))) or "/"

    # -- what a node is made of

    def parts(self, node: int) -> tuple[int, ...]:
        """The nodes that a node is made of."""
        detail = cast(Any, self._shared.detail[node])
        match self._shared.kind[node]:
            case NodeKind.LIFT | NodeKind.FIRST:
                return (detail,)
            case NodeKind.AND:
                driver, checks = detail
                return *(() if driver == NOTHING else (driver,)), *(max(check, ~check) for check in checks)
            case NodeKind.OR:
                return tuple(detail)
            case NodeKind.RANK:
                return () if detail[0] == NOTHING else (detail[0],)
            case NodeKind.DOWN:
                return tuple(part for part in detail[:2] if part != NOTHING)
            case NodeKind.LINKED:
                return tuple(part for _, part in detail[0] if part != NOTHING)
            case _:
                return ()

    def all_below(self, node: int) -> set[int]:
        """A node and all that it is made of, however far below."""
        found, waiting = set[int](), [node]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += self.parts(at)
        return found

    def is_probed(self, node: int) -> bool:
        """Whether it is a test that each value is put to, whatever asks for it: on parts of texts."""
        is_test = self._shared.kind[node] is NodeKind.TEST
        return is_test and cast(Any, self._shared.detail[node])[0] in TEXT_INDEXES

    def drivers(self, node: int) -> tuple[int, ...]:
        """The nodes whose facts bring a node up, in the end."""
        detail = cast(Any, self._shared.detail[node])
        match self._shared.kind[node]:
            case NodeKind.LIFT | NodeKind.FIRST:
                return self.drivers(detail)
            case NodeKind.AND | NodeKind.RANK if detail[0] != NOTHING:
                return self.drivers(detail[0])
            case NodeKind.DOWN:
                return self.drivers(detail[1] if detail[2] else detail[0])
            case NodeKind.OR:
                return tuple(driver for part in detail for driver in self.drivers(part))
            case _:
                return (node,)

    # -- how it is told

    def lines(self, node: int, depth: int = 0, before: str = "") -> Iterator[Line]:
        """A node and what it is made of, what brings it up first; parts that have been told are not told again."""
        shared, detail = self._shared, cast(Any, self._shared.detail[node])
        users = self._users[node]
        sharing = f"  (in {users} conditions)" if users > 1 else ""
        if node in self._told and self.parts(node):
            yield depth, f"{before}{self._text(node)} … as above"
            return
        self._told.add(node)
        yield depth, f"{before}{self._text(node)}{sharing}"
        match shared.kind[node]:
            case NodeKind.AND:
                driver, checks = detail
                if driver != NOTHING:
                    yield from self.lines(driver, depth + 1, "driver: ")
                for check in checks:
                    yield from self.lines(max(check, ~check), depth + 1, "" if check >= 0 else "not: ")
            case NodeKind.DOWN:
                parent, test, by_test = detail
                yield from self.lines(parent, depth + 1, f"{'' if by_test else 'driver: '}from ")
                if test != NOTHING:
                    yield from self.lines(test, depth + 1, "driver: " if by_test else "")
            case _:
                for part in self.parts(node):
                    yield from self.lines(part, depth + 1)

    def _text(self, node: int) -> str:
        shared = self._shared
        kind, detail, edge = shared.kind[node], cast(Any, shared.detail[node]), shared.edge[node]
        at = self.path(shared.state[node])
        match kind:
            case NodeKind.TEST:
                return f"{show_test(self._value(node))} at {at}"
            case NodeKind.NAMED:
                return f"{show_test(Named(cast(Label, detail)))} at {at}"
            case NodeKind.EXISTS:
                return f"{at} has {_relative(shared.path_of(edge))}"
            case NodeKind.LIFT:
                return f"{at} has {_relative(shared.path_of(edge))} with"
            case NodeKind.FIRST:
                return f"{at}: the first {_relative(shared.path_of(edge))} has"
            case NodeKind.LINKED:
                return f"{at}: count or first node of {self.chain(detail[0])}, node by node"
            case NodeKind.AND | NodeKind.OR:
                return f"{'all' if kind is NodeKind.AND else 'one'} of, at {at}"
            case NodeKind.RANK:
                return f"{show_test(Rank(None, *detail[1:]))} at {at}"
            case NodeKind.DOWN:
                return f"pattern {at}"
            case NodeKind.NEVER:
                return "never"

    def _value(self, node: int) -> Value:
        operator, constant, _ = cast(tuple[Operator, str | float, int], self._shared.detail[node])
        return Value(operator, constant)

    def chain(self, chain: Chain) -> str:
        """The path of a chain, without its tests."""
        return _relative(tuple(step for edge, _ in chain for step in self._shared.path_of(edge))) or "."

    def cost(self, node: int) -> str:
        """What a document pays for a driver, whether it holds anywhere or not."""
        shared = self._shared
        at = self.path(shared.state[node])
        match shared.kind[node]:
            case NodeKind.TEST:
                operator = self._value(node).operator
                if operator == "=":
                    return f"one look-up among all constants for each {at}"
                if operator in _TEXT_TESTS:
                    return f"one pass over each {at} for all constants of {operator} there"
                return f"one binary search among all constants for each {at}, and a fact for each constant that holds"
            case NodeKind.EXISTS:
                return f"a fact for each {at} that has {_relative(shared.path_of(shared.edge[node]))}"
            case NodeKind.NAMED:
                return f"a fact for each {at} of that name"
            case NodeKind.NEVER:
                return "nothing"
            case _:
                return f"a look at each {at}"


def _relative(path: Path) -> str:
    shown = show_path(path)
    return f".{shown}" if shown.startswith("//") else shown.removeprefix("/")
