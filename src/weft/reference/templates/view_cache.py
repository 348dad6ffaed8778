"""The relations of a batch in, R_L and R_R out (section 5): the rows of R_bin and R_binW whose values meet.

Both have R_bin's columns and `strval`, the value of node2. They are made once a batch, and serve all templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from weft.errors import ConfigurationError
from weft.reference.templates.relations import Relations

_SLICE = "SELECT b.docid, b.var1, b.var2, b.node1, b.node2, b.timestamp, d.strval"


class Views(Protocol):
    """A way to make R_L and R_R."""

    def prepare(self) -> None:
        """Make R_L and R_R for the current batch."""

    def maintain(self) -> None:
        """Learn from the current batch what serves later ones."""


class NoViews:
    """There are none: the conjunctive queries read R_bin and R_doc."""

    def prepare(self) -> None:
        """Nothing to make."""

    def maintain(self) -> None:
        """Nothing to learn."""


class Materialized:
    """Section 6.2: R_vj, R_L and R_R from scratch for each batch."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations

    def prepare(self) -> None:
        """Make R_vj, the pairs of nodes with one value, and from it R_L and R_R.

        Two documents of the batch may meet too, so R_vj's left nodes are from the state and from the batch.
        """
        for _, statement in self.steps():
            self._relations.connection.execute(statement)

    def steps(self) -> Iterator[tuple[str, str]]:
        """The relations in turn, each with the statement that makes it."""
        yield (
            "R_vj",
            "CREATE OR REPLACE TABLE R_vj AS SELECT d.docid AS docid1, d.node AS node1,"
            " w.docid AS docid2, w.node AS node2, w.strval"
            " FROM R_docW w JOIN (SELECT * FROM R_doc UNION ALL SELECT * FROM R_docW) d"
            " ON d.strval = w.strval AND d.docid <> w.docid",
        )
        for name, bindings, side in (("R_L", "R_bin", 1), ("R_R", "R_binW", 2)):
            yield (
                name,
                f"CREATE OR REPLACE TABLE {name} AS {_SLICE} FROM"
                f" (SELECT DISTINCT docid{side} AS docid, node{side} AS node, strval FROM R_vj) d"
                f" JOIN {bindings} b ON b.docid = d.docid AND b.node2 = d.node",
            )

    def maintain(self) -> None:
        """Nothing to learn: the next batch begins anew."""


class ViewCache:
    """Algorithms 4 and 5: slices of R_L by value, the ones used last kept in VC.

    While a batch is processed VC also has the slices that it needs beyond the bound; they go when it is done.
    """

    def __init__(self, relations: Relations, bound: int) -> None:
        if bound < 0:
            raise ConfigurationError(f"view cache: expected a bound of at least 0 slices, found {bound}")
        self._relations, self._bound = relations, bound
        self._used: dict[int, None] = {}  # the values whose slices VC has, the one used last at the end
        self._common: list[int] = []  # STR: the values that state and batch have in common
        self.hits = self.misses = 0
        execute = relations.connection.execute
        for name in ("VC", "R_L", "R_R"):
            execute(f"CREATE TABLE {name} AS {_SLICE} FROM R_bin b, R_doc d LIMIT 0")
        execute("CREATE TABLE STR AS SELECT strval FROM R_doc LIMIT 0")

    def prepare(self) -> None:
        """Algorithm 4, lines 2 to 8: slices from VC, and into it those that it has not."""
        execute = self._relations.connection.execute
        execute(
            "CREATE OR REPLACE TABLE STR AS"
            " SELECT DISTINCT strval FROM R_docW WHERE strval IN (SELECT strval FROM R_doc) ORDER BY strval"
        )
        self._common = [strval for (strval,) in self._relations.rows("SELECT strval FROM STR ORDER BY strval")]
        missing = [strval for strval in self._common if strval not in self._used]
        self.hits, self.misses = self.hits + len(self._common) - len(missing), self.misses + len(missing)
        execute(
            f"INSERT INTO VC {_SLICE} FROM (SELECT unnest($1::BIGINT[]) AS strval) s"
            " JOIN R_doc d ON d.strval = s.strval JOIN R_bin b ON b.docid = d.docid AND b.node2 = d.node",
            [missing],
        )
        execute("CREATE OR REPLACE TABLE R_L AS SELECT v.* FROM VC v JOIN STR s ON v.strval = s.strval")
        # Documents of the batch may also meet each other, on values that the state does not have.
        execute(
            f"CREATE OR REPLACE TABLE R_R AS {_SLICE} FROM R_docW d"
            " JOIN R_binW b ON b.docid = d.docid AND b.node2 = d.node"
            " WHERE d.strval IN (SELECT strval FROM STR) OR d.strval IN"
            " (SELECT strval FROM R_docW GROUP BY strval HAVING count(DISTINCT docid) > 1)"
        )

    def maintain(self) -> None:
        """Algorithm 5: the batch's rows become part of the slices that were used, and the oldest slices go."""
        execute = self._relations.connection.execute
        execute("INSERT INTO VC SELECT r.* FROM R_R r JOIN STR s ON r.strval = s.strval")
        for strval in self._common:
            self._used.pop(strval, None)
            self._used[strval] = None
        evicted = list(self._used)[: max(len(self._used) - self._bound, 0)]
        for strval in evicted:
            del self._used[strval]
        if evicted:
            execute("DELETE FROM VC WHERE strval IN (SELECT unnest($1::BIGINT[]))", [evicted])

    def __len__(self) -> int:
        return len(self._used)
