"""A shared plan in, for each node the number of its *template* out: the same for nodes that differ in constants alone.

Made for people: it goes over all nodes.
"""

from __future__ import annotations

from collections.abc import Hashable

from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import NOTHING, NodeKind


class Templates:
    """The templates of the nodes of one plan."""

    def __init__(self, tables: NodeTables) -> None:
        self._tables = tables
        self._numbers: dict[Hashable, int] = {}
        self._of_node: list[int] = []
        for node in range(len(tables)):  # what a node is made of is made before it
            self._of_node.append(self._numbers.setdefault(self._form(node), len(self._numbers)))

    def of(self, node: int) -> int:
        """The template of a node; NOTHING has one of its own."""
        return NOTHING if node == NOTHING else self._of_node[node]

    def _form(self, node: int) -> Hashable:
        """A node without its constants."""
        tables, nodes, of = self._tables, self._tables.nodes, self.of
        row, kind = nodes.row[node], NodeKind(nodes.kind[node])
        place = (kind, nodes.state[node], nodes.edge[node])
        match kind:
            case NodeKind.TEST:
                return *place, tables.tests.operator[row]
            case NodeKind.LIFT | NodeKind.FIRST:
                return *place, of(tables.lifts.child[row])
            case NodeKind.AND:
                checks = sorted((is_negated, of(check)) for check, is_negated in tables.conjunctions.checks(row))
                return *place, of(tables.conjunctions.driver[row]), *checks
            case NodeKind.OR:
                return *place, *sorted(map(of, tables.disjunctions.parts(row)))
            case NodeKind.MEASURE:
                measures = tables.measures
                return *place, measures.kind[row], of(measures.driver[row]), *self._links(measures.chain[row])
            case NodeKind.COMPARED:
                return *place, tables.compared.operator[row], of(tables.compared.measure[row])
            case NodeKind.DOWN:
                return *place, of(tables.downs.parent[row]), of(tables.downs.test[row])
            case NodeKind.LINKED:
                return *place, tables.linked.goal[row].fails, *self._links(tables.linked.chain[row])
            case NodeKind.DERIVED:
                derived, goal = tables.derivations, tables.derivations.goal[row]
                return *place, derived.formula[row], derived.is_member[row], goal.operator if goal else None
            case _:
                return place

    def _links(self, chain: int) -> list[Hashable]:
        return [(edge, self.of(below)) for edge, below in self._tables.chains.links(chain)]
