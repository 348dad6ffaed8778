"""A shape in, the text of a FLWR query out: bindings, where, order and the item to return."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from weft.documents.dtd import Dtd
from weft.workload.flwr_item import ItemWriter
from weft.workload.flwr_paths import DrawnVariable, FlwrPaths
from weft.workload.flwr_shape import FlwrShape
from weft.workload.flwr_where import WhereWriter

_DIRECTIONS = ("", " ascending", " descending", " descending")


class FlwrWriter:
    """Writes random queries, all of one shape."""

    def __init__(self, dtd: Dtd, shape: FlwrShape, rng: Random) -> None:
        self._shape = shape
        self._rng = rng
        self._paths = FlwrPaths(dtd, shape, rng)
        self._where = WhereWriter(self._paths, shape, rng)
        self._items = ItemWriter(self._paths, shape, rng)

    def query(self) -> str:
        """One query."""
        bindings, variables = self._bindings()
        where = self._where.clause(variables)
        order = self._order(variables) if self._chance(self._shape.order_by) else ""
        return f"<result>{{ {bindings}{where}{order} return {self._items.item(variables)} }}</result>"

    def _bindings(self) -> tuple[str, list[DrawnVariable]]:
        """The for and let clauses, and their variables."""
        steps = self._paths.binding()
        variables = [DrawnVariable("$v", steps[-1][1])]
        text = f"for $v in {self._binding_path(steps)}"
        if self._chance(self._shape.second_variable):
            path, element = self._paths.element(variables[0])
            variables.append(DrawnVariable("$w", element))
            text += f", $w in {path}"
        if self._chance(self._shape.let):
            able = [variable for variable in variables if self._paths.has_elements(variable)]
            path, element = self._paths.element(self._rng.choice(able))
            variables.append(DrawnVariable("$l", element, several=True))
            text += f" let $l := {path}"
        return text, variables

    def _binding_path(self, steps: list[tuple[str, str]]) -> str:
        texts = [step for step, _ in steps]
        if self._chance(self._shape.binding_predicates):
            place = self._rng.randrange(len(steps))
            # The last step has something to compare more often than the root.
            for at in (place, len(steps) - 1):
                if predicate := self._paths.step_predicate(steps[at][1]):
                    texts[at] += predicate
                    break
        return "".join(texts)

    def _order(self, variables: Sequence[DrawnVariable]) -> str:
        """By an attribute: there is at most one of a name at a node, as XQuery wants of a key."""
        keys = [f"{variable.name}/{each.path}" for variable in variables for each in self._paths.attributes(variable)]
        if not keys:
            return ""
        stable = self._rng.choice(("", "stable "))
        return f" {stable}order by {self._rng.choice(keys)}{self._rng.choice(_DIRECTIONS)}"

    def _chance(self, probability: float) -> bool:
        return probability > 0 and self._rng.random() < probability
