"""Elements that survive all patterns in, their answers out: the Tagger.

What selects the element itself, or copies it between constants, is written from its bytes. For all else, and where the
patterns do not tell all that the query asks for, the engine answers the survivors as it answers any document.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.document import Limits, is_in_stream
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.engine.deliveries import deliveries
from weft.engine.engine import Engine
from weft.errors import MessageError
from weft.optimizer.pattern_tree import PatternTree
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection
from weft.plans.recipe import Recipe, make_recipe


@dataclass(frozen=True, slots=True)
class ElementAnswer:
    """What a query has of one bottom input element: the nodes that it selects, or the message that it builds."""

    element: str  # its id
    nodes: tuple[str, ...]


class Tagging:
    """Makes the answers to one query."""

    def __init__(self, query: str, plan: Selection | Flwr | LoneQuery, tree: PatternTree, limits: Limits) -> None:
        self._tree, self._limits, self._query = tree, limits, query
        self._stream = plan.stream if isinstance(plan, Flwr | LoneQuery) else ""
        self._is_direct = tree.returns_element and not tree.has_rest
        self._recipe: Recipe | None = make_recipe(plan)[0] if self._is_direct and isinstance(plan, Flwr) else None
        self._engine = Engine(limits=limits)
        self._engine.add(0, plan)
        self.refused: list[MessageError] = []

    @property
    def is_direct(self) -> bool:
        """Whether answers are written from the bytes of elements."""
        return self._is_direct

    def ids(self, table: NodeTable, places: Ints) -> list[str]:
        """The elements that the query matches."""
        if not self._tree.has_rest:
            documents = [table.documents[at] for at in places.tolist()]
            return [document.id for document in documents if is_in_stream(document, self._stream)]
        table = self._survivors(table, places)
        found = self._engine.match(table, whether=True).subscriptions()
        return [document.id for document, numbers in zip(table.documents, found, strict=True) if numbers.size]

    def answers(self, table: NodeTable, places: Ints) -> list[ElementAnswer]:
        """Their answers."""
        if not self._is_direct or self._may_be_refused(table):
            table = self._survivors(table, places)
            return self._from_engine(table) if table.documents else []
        fragments = Fragments(table)
        roots = table.ranges[0]
        found = []
        for at in places.tolist():
            document = table.documents[at]
            if is_in_stream(document, self._stream):
                found.append(ElementAnswer(document.id, (self._written(fragments.text(int(roots[at]))),)))
        return found

    def _may_be_refused(self, table: NodeTable) -> bool:
        """Whether some message may break a limit: the engine tells which."""
        limits, recipe = self._limits, self._recipe
        constant, copies = (recipe.constant, recipe.repeats) if recipe is not None else (0, 1)
        longest = max(map(len, table.sources), default=0)
        return copies * longest + constant > min(limits.max_message_bytes, limits.max_output_bytes)

    def _written(self, element: str) -> str:
        if self._recipe is None:
            return element
        pieces = "".join(piece if isinstance(piece, str) else element for piece in self._recipe.pieces)
        return f"{self._recipe.before}{pieces}{self._recipe.after}"

    def _survivors(self, table: NodeTable, places: Ints) -> NodeTable:
        if places.size == len(table.documents):
            return table
        return read([table.documents[at] for at in places.tolist()], self._limits)

    def _from_engine(self, table: NodeTable) -> list[ElementAnswer]:
        made = deliveries(self._engine, table)
        by_document: dict[int, list[str]] = {}
        for at, text in zip(made.document.tolist(), made.text, strict=True):
            by_document.setdefault(at, []).append(text)
        self.refused += [MessageError(self._query, table.documents[at].id, why) for at, _, why in made.refused]
        return [ElementAnswer(table.documents[at].id, tuple(nodes)) for at, nodes in sorted(by_document.items())]
