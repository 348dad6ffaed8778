"""Queries and node tables in, the paper's relations on DuckDB out: one state that all of the paper's ways share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench.joins.workload import Queries
from weft.columns.integers import Longs
from weft.documents import NodeTable
from weft.joins.match.witness import FirstStage, Witnesses
from weft.reference.templates.reference import Reference

_IN_A_DOCUMENT = 1 << 32  # more nodes than a document has


@dataclass(frozen=True, slots=True)
class Rows:
    """The witnesses of a batch as rows of R_bin and R_doc."""

    bin: pa.Table
    doc: pa.Table


class Database:
    """R_T of every template with each distinct query once, and the relations of state and batch.

    Equal queries are one row, as the paper's own flat curve tells; the table `copies` says how many a row stands for.
    DuckDB has one thread, as all other ways do.
    """

    def __init__(self, queries: Queries) -> None:
        self.reference = Reference(queries.plans)
        self.relations = self.reference.relations
        self.execute = self.relations.connection.execute
        self.execute("SET threads = 1")
        self._insert("copies", pa.table({"qid": np.arange(len(queries.plans)), "number": queries.copies()}), new=True)
        self._stage = _Stage(self.reference)

    def witness(self, table: NodeTable, first: int) -> Rows:
        """The first stage; the documents' ids count on from `first`."""
        return self._stage.rows(table, first)

    def load(self, rows: Rows) -> None:
        """The current batch, in place of the last one."""
        for name, table in (("R_binW", rows.bin), ("R_docW", rows.doc)):
            self.execute(f"DELETE FROM {name}")
            self._insert(name, table)

    def settle(self) -> None:
        """The current batch becomes part of the state, and is the current one still."""
        for name in ("R_bin", "R_doc"):
            self.execute(f"INSERT INTO {name} SELECT * FROM {name}W")

    def close(self) -> None:
        """Free its memory."""
        self.relations.connection.close()

    def _insert(self, name: str, table: pa.Table, new: bool = False) -> None:
        self.relations.connection.register("given", table)
        self.execute(
            f"CREATE TABLE {name} AS SELECT * FROM given" if new else f"INSERT INTO {name} SELECT * FROM given"
        )
        self.relations.connection.unregister("given")


class _Stage:
    """Weft's first stage, asked for what a reference wants, and its numbers turned into the reference's codes."""

    def __init__(self, reference: Reference) -> None:
        self._first_stage = FirstStage()
        variables = reference.variables
        codes = {self._first_stage.add_variable(one, at in reference.valued): at for at, one in enumerate(variables)}
        edges = {
            self._first_stage.add_edge(variables[above], variables[below].links): (above, below)
            for above, below in sorted(reference.edges)
            if above != below
        }
        self._codes = _lookup(codes)
        self._above = _lookup({number: edge[0] for number, edge in edges.items()})
        self._below = _lookup({number: edge[1] for number, edge in edges.items()})
        self._is_unary = np.array([(at, at) in reference.edges for at in range(len(variables))], bool)

    def rows(self, table: NodeTable, first: int) -> Rows:
        """A node of several variables has one row in R_doc."""
        found = self._first_stage.read(table)
        has_value = found.value >= 0
        document, node = found.document[has_value].astype(np.int64), found.node[has_value].astype(np.int64)
        _, once = np.unique(document * _IN_A_DOCUMENT + node, return_index=True)
        doc = {"docid": document[once] + first, "node": node[once], "strval": found.value[has_value][once]}
        return Rows(self._bindings(table, found, first), pa.table(doc))

    def _bindings(self, table: NodeTable, found: Witnesses, first: int) -> pa.Table:
        times = np.array([document.nanoseconds for document in table.documents], np.int64)
        codes = self._codes[found.variable]
        unary = self._is_unary[codes]
        document = np.concatenate([found.edge_document, found.document[unary]]).astype(np.int64)
        columns = {
            "docid": document + first,
            "var1": np.concatenate([self._above[found.edge], codes[unary]]),
            "var2": np.concatenate([self._below[found.edge], codes[unary]]),
            "node1": np.concatenate([found.above, found.node[unary]]).astype(np.int64),
            "node2": np.concatenate([found.below, found.node[unary]]).astype(np.int64),
            "timestamp": times[document],
        }
        return pa.table(columns)


def _lookup(codes: dict[int, int]) -> Longs:
    """A dictionary as an array."""
    table = np.full(max(codes, default=-1) + 1, -1, np.int64)
    table[list(codes)] = list(codes.values())
    return table
