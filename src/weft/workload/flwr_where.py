"""The variables of a FLWR query in, its where clause out: a conjunction, or any combination of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from weft.workload.flwr_paths import DrawnVariable, FlwrPaths
from weft.workload.flwr_shape import FlwrShape

_NEGATION = 0.25
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


class WhereWriter:
    """Writes random where clauses."""

    def __init__(self, paths: FlwrPaths, shape: FlwrShape, rng: Random) -> None:
        self._paths = paths
        self._shape = shape
        self._rng = rng

    def clause(self, variables: Sequence[DrawnVariable]) -> str:
        """The clause, empty where there is no condition; the first variable is the one of the binding path."""
        tests = self._predicates(variables)
        if self._shape.where_or and self._rng.random() < self._shape.where_or:
            return f" where {self._combination(tests, variables)}"
        # Sorted, as the brokering paper does: the same tests in another order are no other query.
        return f" where {' and '.join(sorted(tests))}" if tests else ""

    def _predicates(self, variables: Sequence[DrawnVariable]) -> list[str]:
        """As many as the shape says on the first variable, each on another path, and one on some of the others."""
        bound, *others = variables
        found: dict[str, str] = {}
        while len(found) < self._shape.predicate_paths:
            path, test = self._paths.comparison(bound)
            found.setdefault(path, test)
        tests = list(found.values())
        for other in others:
            if self._rng.random() < 0.5 and self._paths.has_comparison(other, itself=True):
                tests.append(self._paths.comparison(other, itself=True)[1])
        return tests

    def _combination(self, tests: list[str], variables: Sequence[DrawnVariable]) -> str:
        """All tests and at least one condition more, the first two with `or`, the others as it comes."""
        able = [variable for variable in variables if self._paths.has_nodes(variable)]
        more = max(1, 2 - len(tests)) + self._rng.randrange(2)
        parts = tests + [self._condition(self._rng.choice(able)) for _ in range(more)]
        self._rng.shuffle(parts)
        first, second, *others = (f"not({part})" if self._rng.random() < _NEGATION else part for part in parts)
        text = f"{first} or {second}"
        for other in others:
            text = f"({text}) {self._rng.choice(('and', 'or'))} {other}"
        return text

    def _condition(self, variable: DrawnVariable) -> str:
        match self._rng.choice(("comparison", "existence", "count", "contains")):
            case "comparison" if self._paths.has_comparison(variable):
                return self._paths.comparison(variable)[1]
            case "contains" if attributes := self._paths.attributes(variable):
                function = self._rng.choice(("contains", "starts-with", "ends-with"))
                path = f"{variable.name}/{self._rng.choice(attributes).path}"
                return f'{function}({path}, "{self._rng.randrange(self._shape.values)}")'
            case "existence":
                return self._paths.node(variable)
            case _:
                return f"count({self._paths.node(variable)}) {self._rng.choice(_OPERATORS)} {self._rng.randrange(4)}"
