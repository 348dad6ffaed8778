"""A template in, its conjunctive query CQ_T as SQL out: plain joins, for DuckDB and for Spark.

Each node that takes part in an equality has a copy of R_doc (its value) and of R_bin (the structural edge that it
ends); with views one copy of R_L or R_R is both. Each other edge has a copy of R_bin. The nodes of inequalities have
R_doc, and R_val for what their values are as numbers and as instants. R_T comes last: what the data touches finds the
queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.joins.compile.graph import ValueJoin
from weft.reference.templates.template import Template

_READINGS = "R_val"  # strval, number, instant


@dataclass(frozen=True, slots=True)
class SqlSource:
    """The relations that a side is read from; `view` is R_bin joined with R_doc, where that is there."""

    bin: str
    doc: str
    view: str | None = None


def conjunctive_query(template: Template, relation: str, left: SqlSource, right: SqlSource) -> str:
    """The text of CQ_T, its left side's witnesses from one source and its right side's from the other.

    Its columns are qid, docid1, docid2, node1 … noden and wl. The window is checked in it, but for windows in
    documents: those are infinite in R_T.
    """
    body = _Body(template, (left, right))
    for join in template.joins:
        if join.operator == "=":
            body.add_equality(join)
    for node, parent in enumerate(template.parents):
        if parent is not None:
            body.add_edge(node)
    for join in template.joins:
        if join.operator != "=":
            body.add_inequality(join)
    body.add_queries(relation)
    return body.text()


class _Body:
    """The relations so far, and where each column was met first: later ones are joined to that."""

    def __init__(self, template: Template, sources: tuple[SqlSource, SqlSource]) -> None:
        self._template, self._sources = template, sources
        self._relations: list[str] = []
        self._filters: list[str] = []
        self._met: dict[str, str] = {}  # docid1, var3, node3, strval3 …: the column that has it
        self._aliases: set[str] = set()

    def add_equality(self, join: ValueJoin) -> None:
        """Both nodes' values, the most selective pair first, and then their edges."""
        for node in (join.left, join.right):
            if self._source(node).view is None:
                self._add_value(node)
            else:
                self.add_edge(node)
        for node in (join.left, join.right):
            self.add_edge(node)

    def add_edge(self, node: int) -> None:
        """The structural edge that ends at a node; for a top node, its unary binding."""
        source, parent, name = self._source(node), self._template.parents[node], f"b{node + 1}"
        is_viewed = source.view is not None and node in self._template.equated()
        side = self._side(node)
        columns = {
            f"docid{side}": "docid",
            f"var{node + 1}": "var2",
            f"node{node + 1}": "node2",
            f"timestamp{side}": "timestamp",
        }
        if parent is not None:
            columns |= {f"var{parent + 1}": "var1", f"node{parent + 1}": "node1"}
        if is_viewed:
            columns |= self._values_of(node)
        fixed = [f"{name}.var1 = {name}.var2"] if parent is None else []  # R_T says so too, but comes last
        self._add(source.view if is_viewed and source.view else source.bin, name, columns, fixed)

    def add_inequality(self, join: ValueJoin) -> None:
        """A condition on two values; those that are no numbers nor instants have no row in R_val, and do not hold."""
        for node in (join.left, join.right):
            if f"strval{node + 1}" not in self._met:
                self._add_value(node)
            if join.operator != "!=":
                self._add(_READINGS, f"v{node + 1}", {f"strval{node + 1}": "strval"}, [])
        if join.operator == "!=":
            self._filters.append(f"{self._met[f'strval{join.left + 1}']} <> {self._met[f'strval{join.right + 1}']}")
            return
        one, other = f"v{join.left + 1}", f"v{join.right + 1}"
        self._filters.append(
            f"({one}.number {join.operator} {other}.number OR ((({one}.number IS NULL) OR ({other}.number IS NULL))"
            f" AND {one}.instant {join.operator} {other}.instant))"
        )

    def add_queries(self, relation: str) -> None:
        """R_T, and the window that its rows ask for."""
        variables = [f"var{node + 1}" for node in range(len(self._template.parents))]
        self._add(relation, "t", {variable: variable for variable in variables}, [])
        earlier, later = self._met["timestamp1"], self._met["timestamp2"]
        self._filters.append(f"{self._met['docid1']} <> {self._met['docid2']}")
        self._filters.append(f"(t.either OR {earlier} < {later})")
        self._filters.append(f"abs({later} - {earlier}) <= t.wl")

    def text(self) -> str:
        """The whole statement."""
        names = ["docid1", "docid2", *(f"node{node + 1}" for node in range(len(self._template.parents)))]
        columns = ", ".join(["t.qid", *(f"{self._met[name]} AS {name}" for name in names), "t.wl"])
        return "\n".join(
            [f"SELECT DISTINCT {columns}", *self._relations, "WHERE " + "\n  AND ".join(self._filters)],
        )

    def _add_value(self, node: int) -> None:
        columns = {f"docid{self._side(node)}": "docid", f"node{node + 1}": "node", **self._values_of(node)}
        self._add(self._source(node).doc, f"d{node + 1}", columns, [])

    def _values_of(self, node: int) -> dict[str, str]:
        """The node's value, and that of all that it equals."""
        equal = {join.right if join.left == node else join.left for join in self._equalities() if node in _ends(join)}
        return {f"strval{other + 1}": "strval" for other in sorted({node, *equal})}

    def _equalities(self) -> list[ValueJoin]:
        return [join for join in self._template.joins if join.operator == "="]

    def _add(self, relation: str, alias: str, columns: dict[str, str], conditions: list[str]) -> None:
        """One more relation, once; its columns equal what was met before, and what is new is met here."""
        if alias in self._aliases:
            return
        self._aliases.add(alias)
        equalities = {
            f"{alias}.{column} = {self._met[name]}": None
            for name, column in columns.items()
            if name in self._met and column != "timestamp"  # which goes with the document
        }
        conditions = [*conditions, *equalities]
        self._met |= {name: f"{alias}.{column}" for name, column in columns.items() if name not in self._met}
        if not self._relations:
            self._relations.append(f"FROM {relation} {alias}")
            self._filters.extend(conditions)
        else:
            self._relations.append(f"JOIN {relation} {alias} ON {' AND '.join(conditions)}")

    def _side(self, node: int) -> int:
        return 1 if self._template.is_left(node) else 2

    def _source(self, node: int) -> SqlSource:
        return self._sources[self._side(node) - 1]


def _ends(join: ValueJoin) -> tuple[int, int]:
    return join.left, join.right
