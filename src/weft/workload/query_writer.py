"""A walk through the element graph in, the text of an XPath query along it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from random import Random

from weft.documents.dtd import Dtd
from weft.workload.options import check_least, check_probability
from weft.workload.predicates import PREDICATE_DEPTH, PredicateWriter
from weft.workload.walks import Walks, steps_along


@dataclass(frozen=True, slots=True)
class QueryShape:
    """The parameters of `generate_queries` that one query follows."""

    depth: int
    descendant: float
    wildcard: float
    predicates: int
    predicate_probability: float
    nested: int
    nested_probability: float
    values: int
    words: int
    skew: float

    def __post_init__(self) -> None:
        check_least(depth=(self.depth, 1), predicates=(self.predicates, 0), nested=(self.nested, 0))
        check_least(values=(self.values, 1), words=(self.words, 1), skew=(self.skew, 0))
        check_probability(descendant=self.descendant, wildcard=self.wildcard)
        check_probability(predicate_probability=self.predicate_probability)
        check_probability(nested_probability=self.nested_probability)


class QueryWriter:
    """Writes random queries, all of one shape."""

    def __init__(self, dtd: Dtd, shape: QueryShape, rng: Random) -> None:
        self._dtd = dtd
        self._shape = shape
        self._random = rng.random
        self._walks = Walks(dtd, max(shape.depth, PREDICATE_DEPTH), shape.skew, rng)
        self._predicates = PredicateWriter(dtd, shape.values, shape.words, rng)

    def query(self) -> str:
        """One query along one walk from the root."""
        shape, root = self._shape, self._dtd.root
        steps = self._steps(chain([root], self._walks.below(root, shape.depth - 1)))
        if not shape.predicates and not shape.nested:
            return "".join([step for step, _ in steps])
        elements = [element for _, element in steps]
        # By what they compare: two on the same attribute could contradict each other.
        tests: list[dict[str, str]] = [{} for _ in steps]
        for place in self._places(shape.predicates, shape.predicate_probability, elements, self._predicates.possible):
            compared, test = self._predicates.draw(elements[place])
            tests[place][compared] = test
        for place in self._places(shape.nested, shape.nested_probability, elements, self._has_children):
            path = self._path(elements[place])
            tests[place][path] = path
        # Sorted, as the brokering paper does: the same tests in another order are no other query.
        texts = ("".join(f"[{test}]" for test in sorted(here.values())) for here in tests)
        return "".join(step + text for (step, _), text in zip(steps, texts, strict=True))

    def _steps(self, walk: Iterable[str]) -> list[tuple[str, str]]:
        return steps_along(list(walk), self._shape.descendant, self._shape.wildcard, self._random)

    def _places(
        self, most: int, probability: float, elements: list[str], possible: Callable[[str], bool]
    ) -> Iterator[int]:
        """The steps that get a test, out of those that can have one."""
        able = [place for place, element in enumerate(elements) if possible(element)]
        for _ in range(most if able else 0):
            if self._random() < probability:
                yield able[int(self._random() * len(able))]

    def _has_children(self, element: str) -> bool:
        return bool(self._dtd.children(element))

    def _path(self, element: str) -> str:
        """A relative path along a short walk below the element."""
        length = 1 + int(self._random() * PREDICATE_DEPTH)
        text = "".join(step for step, _ in self._steps(self._walks.below(element, length)))
        return f".{text}" if text.startswith("//") else text[1:]
