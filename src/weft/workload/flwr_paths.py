"""A variable and its element in, a random path from it out, or a comparison of one with a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.workload.flwr_shape import FlwrShape
from weft.workload.predicates import PredicateOperand, constant, operands
from weft.workload.walks import WalksTo, steps_along


@dataclass(frozen=True, slots=True)
class DrawnVariable:
    """A variable and the element that it is bound to; one made by `let` stands for several."""

    name: str
    element: str
    several: bool = False


class FlwrPaths:
    """Random paths of one shape."""

    def __init__(self, dtd: Dtd, shape: FlwrShape, rng: Random) -> None:
        self._dtd = dtd
        self._shape = shape
        self._rng = rng
        # By the last step of a path to it: "" for the element's text, or `@a`.
        self._operands = {name: {each.path: each for each in operands(dtd, name, "", "")} for name in dtd.names}
        self._elements = WalksTo(dtd, lambda _: ("",), rng)
        self._nodes = WalksTo(dtd, lambda name: ("", *(f"@{each}" for each in dtd.attributes(name))), rng)
        self._compared = WalksTo(dtd, lambda name: tuple(self._operands[name]), rng)
        self._texts = WalksTo(dtd, lambda name: ("text()",) if dtd.has_text(name) else (), rng)
        self._bindings = WalksTo(dtd, self._binding_ends, rng)
        self._below_root = self._binding_length()

    def binding(self) -> list[tuple[str, str]]:
        """The steps of a binding path, each with its element; the last one has enough paths below it."""
        root, length = self._dtd.root, self._below_root
        return self._steps([root, *self._bindings.draw(root, length, length)])

    def element(self, variable: DrawnVariable) -> tuple[str, str]:
        """A path to elements below the variable, and their name."""
        walk = self._elements.draw(variable.element, 1, self._shape.path_depth)
        return self._path(variable.name, walk), walk[-1]

    def has_elements(self, variable: DrawnVariable) -> bool:
        """Whether its element has children."""
        return bool(self._dtd.children(variable.element))

    def node(self, variable: DrawnVariable) -> str:
        """A path to elements or attributes; a variable for several nodes is a path to them itself."""
        walk = self._nodes.draw(variable.element, 0 if variable.several else 1, self._shape.path_depth)
        return self._path(variable.name, walk)

    def has_nodes(self, variable: DrawnVariable) -> bool:
        """Whether there is such a path."""
        return self._nodes.number(variable.element, 0 if variable.several else 1, 1) > 0

    def text(self, variable: DrawnVariable) -> str | None:
        """A path to text nodes, if there is one; `text()` is no step that counts."""
        most = self._shape.path_depth + 1
        if not self._texts.number(variable.element, 1, most):
            return None
        return self._path(variable.name, self._texts.draw(variable.element, 1, most))

    def attributes(self, variable: DrawnVariable) -> list[PredicateOperand]:
        """The attributes of its element: there is at most one of each at a node."""
        return [] if variable.several else [each for path, each in self._operands[variable.element].items() if path]

    def comparison(self, variable: DrawnVariable, itself: bool = False) -> tuple[str, str]:
        """What is compared, and the comparison; the text of the variable's own element only if `itself`."""
        walk = self._compared.draw(variable.element, 0 if itself else 1, self._shape.path_depth)
        path = self._path(variable.name, walk)
        return path, self._compare(path, self._operand(variable.element, walk))

    def has_comparison(self, variable: DrawnVariable, itself: bool = False) -> bool:
        """Whether there is anything to compare."""
        return self._compared.number(variable.element, 0 if itself else 1, self._shape.path_depth) > 0

    def step_predicate(self, element: str) -> str:
        """A predicate on an attribute or a child of a step's element, or nothing where it has none to compare."""
        if not self._compared.number(element, 1, 1):
            return ""
        walk = self._compared.draw(element, 1, 1)
        return f"[{self._compare(walk[0], self._operand(element, walk))}]"

    def _compare(self, path: str, operand: PredicateOperand) -> str:
        """Only numbers are put in order: XQuery takes a text that is none for an error."""
        value = constant(operand, self._rng.randrange(self._shape.values), self._shape.words, self._rng)
        operator = "="
        if self._shape.comparison == "mixed":
            operator = self._rng.choice(("=", "!=", "<", ">") if operand.kind == "number" else ("=", "!="))
        return f"{path} {operator} {value}" if operator in ("<", ">") else f'{path} {operator} "{value}"'

    def _operand(self, element: str, walk: Sequence[str]) -> PredicateOperand:
        *above, last = element, *walk
        return self._operands[above[-1]][last] if last.startswith("@") else self._operands[last][""]

    def _path(self, start: str, walk: list[str]) -> str:
        return start + "".join([step for step, _ in self._steps(walk)])

    def _steps(self, walk: list[str]) -> list[tuple[str, str]]:
        return steps_along(walk, self._shape.descendant, 0, self._rng.random)

    def _binding_ends(self, name: str) -> Sequence[str]:
        """An element can be bound if it has as many paths below as the query asks for, all of them different."""
        shape = self._shape
        enough = self._elements.number(name, 1, shape.path_depth) >= shape.return_paths
        return ("",) if enough and self._compared.number(name, 1, shape.path_depth) >= shape.predicate_paths else ()

    def _binding_length(self) -> int:
        """The steps below the root: as many as the depth allows."""
        root, shape = self._dtd.root, self._shape
        for length in range(shape.depth - 1, -1, -1):
            if self._bindings.number(root, length, length):
                return length
        raise ConfigurationError(
            f"the DTD with root {root!r} has no element to bind down to depth {shape.depth}, one with at least "
            f"{shape.predicate_paths} predicate paths and {shape.return_paths} return paths of depth "
            f"{shape.path_depth}: allow more by depth or path_depth"
        )
