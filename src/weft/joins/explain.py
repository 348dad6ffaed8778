"""Joins in, text out that tells how a query is answered and what it shares with others."""

from __future__ import annotations

from weft.joins.joins import Joins
from weft.plans.show_xscl import show_xscl
from weft.plans.xscl import Xscl


def explain_join(joins: Joins, number: int, query: str, plan: Xscl) -> str:
    """One query: its plan, its openings, and what it shares."""
    shape = joins.registered.shape(number)
    shared = joins.queries.shared[shape]
    lines = [query, "", show_xscl(plan), "", "answered from the values that documents have in common"]
    for place in shared.openings:
        opening = joins.queries.openings[place]
        if opening is not None:
            how = "exact where each variable has one node" if opening.is_exact else "verified by a search"
            needed = _some(len(opening.pairs), "predicate")
            lines.append(f"  begins when a document of block {opening.newest + 1} comes: {needed}, {how}")
    if not shared.openings:
        lines.append("  begins with each document of block 1")
    lines += ["", "shares", f"  join: the same for {_some(len(shared.subscribers), 'subscription')}"]
    lines += ["", "costs a document that it does not match"]
    lines.append("  a row for each node that a variable of a block holds, and a look-up of its value")
    return "\n".join(lines)


def explain_joins(joins: Joins) -> str:
    """All queries: what is shared, and what is held."""
    queries = joins.queries
    return "\n".join(
        [
            f"joins: {_some(len(joins), 'subscription')}, {_some(len(queries.shared), 'distinct join')}",
            f"  {_some(len(joins.stage), 'variable and edge', 'variables and edges')} in the shared automaton",
            f"  {_some(len(queries.predicates), 'predicate')}, {_some(queries.ways, 'way', 'ways')} to begin",
            f"  state: {_some(len(joins.state), 'document')}, {_some(len(joins.state.postings), 'posting')},"
            f" {_some(len(joins.absences), 'open window')}, {_some(joins.late, 'late document')}",
        ]
    )


def _some(number: int, thing: str, things: str = "") -> str:
    return f"{number} {thing if number == 1 else things or thing + 's'}"
