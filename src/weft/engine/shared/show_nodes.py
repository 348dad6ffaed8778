"""Nodes of the shared plan in, lines for people out: what runs, in which order, and what brings it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from weft.columns.kept import kept_property
from weft.engine.access import Access
from weft.engine.shared.comparisons import Reading
from weft.engine.shared.nodes import COMPARISONS, NOTHING, OPERATORS, Chain, MeasureKind, NodeKind
from weft.engine.shared.parts import drivers_of, parts_of
from weft.engine.shared.plan import SharedPlan
from weft.plans.formulas import Formula
from weft.plans.plan import Among, Derived, Named, Path, Rank, Value
from weft.plans.show import Line, show_path, show_test
from weft.plans.write_formula import write_formula

_TEXT_TESTS = ("contains", "starts-with", "ends-with", "matches")


class NodeLines:
    """The nodes of one shared plan as text. A node that stands in several conditions is worked out once for all."""

    def __init__(self, shared: SharedPlan, access: Access | None = None) -> None:
        """With an access what drives is as that has it."""
        self._shared, self._access = shared, access
        self._told: set[int] = set()

    @kept_property
    def _users(self) -> Counter[int]:
        """How many nodes are made of each."""
        return Counter(part for node in range(len(self._shared)) for part in set(self.parts(node)))

    def path(self, state: int) -> str:
        """The path to a state, as XPath writes it."""
        return show_path(self._shared.states.path(state)) or "/"

    # -- what a node is made of

    def parts(self, node: int) -> tuple[int, ...]:
        """The nodes that a node is made of."""
        return parts_of(self._shared, node)

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
        """Whether it is a test that each value is put to, whatever asks for it: a regular expression."""
        is_test = self._shared.nodes.kind[node] == NodeKind.TEST
        return is_test and self._value(node).operator == "matches"

    def drivers(self, node: int) -> tuple[int, ...]:
        """The nodes whose facts bring a node up, in the end."""
        drivers = drivers_of(self._shared, node)
        if self._shared.nodes.kind[node] == NodeKind.AND and drivers:
            drivers = (self._conjunction(self._shared.nodes.row[node])[0],)
        if self._shared.nodes.kind[node] == NodeKind.MEASURE and not self._is_driven_by_value(drivers):
            return (node,)
        return tuple(last for driver in drivers for last in self.drivers(driver)) if drivers else (node,)

    def _is_driven_by_value(self, drivers: tuple[int, ...]) -> bool:
        """Whether what brings a measure up is more than that there is something to count."""
        kinds = self._shared.nodes.kind
        return any(kinds[last] not in (NodeKind.EXISTS, NodeKind.AND) for at in drivers for last in self.drivers(at))

    def _conjunction(self, row: int) -> tuple[int, list[tuple[int, bool]]]:
        ands = self._shared.conjunctions
        if self._access is None:
            return ands.driver[row], ands.checks(row)
        return self._access.conjunction(self._shared, row)

    def _place(self, node: int) -> str:
        """That a part is in, which most are not."""
        is_in = self._access is not None and node < self._access.is_in.size and self._access.is_in[node]
        return "in: " if is_in else ""

    # -- how it is told

    def lines(self, node: int, depth: int = 0, before: str = "") -> Iterator[Line]:
        """A node and what it is made of, what brings it up first; parts that have been told are not told again."""
        shared, row = self._shared, self._shared.nodes.row[node]
        users = self._users[node]
        sharing = f"  (in {users} conditions)" if users > 1 else ""
        if node in self._told and self.parts(node):
            yield depth, f"{before}{self._text(node)} … as above"
            return
        self._told.add(node)
        yield depth, f"{before}{self._text(node)}{sharing}"
        match NodeKind(shared.nodes.kind[node]):
            case NodeKind.AND:
                driver, checks = self._conjunction(row)
                if driver != NOTHING:
                    yield from self.lines(driver, depth + 1, "driver: ")
                for check, is_negated in checks:
                    yield from self.lines(check, depth + 1, "not: " if is_negated else self._place(check))
            case NodeKind.DOWN:
                by_test, test = bool(shared.downs.by_test[row]), shared.downs.test[row]
                yield from self.lines(shared.downs.parent[row], depth + 1, f"{'' if by_test else 'driver: '}from ")
                if test != NOTHING:
                    yield from self.lines(test, depth + 1, "driver: " if by_test else "")
            case _:
                for part in self.parts(node):
                    yield from self.lines(part, depth + 1)

    def _text(self, node: int) -> str:
        shared = self._shared
        kind, row, edge = NodeKind(shared.nodes.kind[node]), shared.nodes.row[node], shared.nodes.edge[node]
        at = self.path(shared.nodes.state[node])
        match kind:
            case NodeKind.TEST:
                return f"{show_test(self._value(node))} at {at}"
            case NodeKind.NAMED:
                return f"{show_test(Named(shared.names.label[row]))} at {at}"
            case NodeKind.EXISTS:
                return f"{at} has {_relative(shared.path_of(edge))}"
            case NodeKind.LIFT:
                return f"{at} has {_relative(shared.path_of(edge))} with"
            case NodeKind.FIRST:
                return f"{at}: the first {_relative(shared.path_of(edge))} has"
            case NodeKind.LINKED:
                goal, chain = shared.linked.goal[row], shared.chains.links(shared.linked.chain[row])
                fails = "does not pass " if goal.fails else ""
                return f"{at}: the first {self.chain(chain)} {fails}{show_test(goal.test)}, node by node"
            case NodeKind.AND | NodeKind.OR:
                return f"{'all' if kind is NodeKind.AND else 'one'} of, at {at}"
            case NodeKind.MEASURE:
                return f"{self._measure(row)}, once for each {at}"
            case NodeKind.COMPARED:
                return f"{self._comparison(row)} at {at}"
            case NodeKind.DERIVED:
                return f"{self._derived(row)} at {at}"
            case NodeKind.DOWN:
                return f"pattern {at}"
            case NodeKind.NEVER:
                return "never"

    def _value(self, node: int) -> Value:
        tests, row = self._shared.tests, self._shared.nodes.row[node]
        constants = tests.constants()[Reading(tests.reading[row])]
        return Value(OPERATORS[tests.operator[row]], constants[tests.constant[row]])

    def _derived(self, row: int) -> str:
        derived = self._shared.derivations
        formula, goal = self.formula(row), derived.goal[row]
        return show_test(Among(formula) if derived.is_member[row] else Derived(formula, goal))

    def formula(self, row: int) -> Formula:
        """The formula of a DERIVED, by its place among them."""
        wanted = self._shared.derivations.formula[row]
        return next(islice(self._shared.derivations.formulas, wanted, None))

    def _measure(self, row: int) -> str:
        measures = self._shared.measures
        if measures.kind[row] == MeasureKind.COUNT:
            return f"count of {self.chain(self._shared.chains.links(measures.chain[row]))}"
        return "position" if measures.kind[row] == MeasureKind.POSITION else "position from the last"

    def _comparison(self, row: int) -> str:
        compared = self._shared.compared
        measure = self._shared.nodes.row[compared.measure[row]]
        operator, number = COMPARISONS[compared.operator[row]], compared.number[row]
        if self._shared.measures.kind[measure] == MeasureKind.FROM_END:
            return show_test(Rank(None, operator, None))
        return f"{self._measure(measure)} {operator} {number:g}"

    def chain(self, chain: Chain) -> str:
        """The path of a chain, without its tests."""
        return _relative(tuple(step for edge, _ in chain for step in self._shared.path_of(edge))) or "."

    def cost(self, node: int) -> str:
        """What a document pays for a driver, whether it holds anywhere or not."""
        shared = self._shared
        at = self.path(shared.nodes.state[node])
        match NodeKind(shared.nodes.kind[node]):
            case NodeKind.TEST:
                operator = self._value(node).operator
                if operator == "=":
                    return f"one look-up among all constants for each {at}"
                if operator in _TEXT_TESTS:
                    return f"one pass over each {at} for all constants of {operator} there"
                return f"one binary search among all constants for each {at}, and a fact for each constant that holds"
            case NodeKind.EXISTS:
                return f"a fact for each {at} that has {_relative(shared.path_of(shared.nodes.edge[node]))}"
            case NodeKind.NAMED:
                return f"a fact for each {at} of that name"
            case NodeKind.NEVER:
                return "nothing"
            case NodeKind.DERIVED:
                worked_out = write_formula(self.formula(shared.nodes.row[node]))
                if shared.derivations.is_member[shared.nodes.row[node]]:
                    return f"{worked_out}, once for a document"
                return f"{worked_out} for each {at}, once, and one search among all that it is compared with"
            case NodeKind.MEASURE:
                measure = self._measure(shared.nodes.row[node])
                return f"the {measure} of each {at}, once, and a binary search among all constants of it"
            case _:
                return f"a look at each {at}"


def _relative(path: Path) -> str:
    shown = show_path(path)
    return f".{shown}" if shown.startswith("//") else shown.removeprefix("/")
