"""FLWR queries that are answered by plans of their own in, text about their operators out."""

from __future__ import annotations

from collections import Counter

from weft.plans.show import show_flwr
from weft.plans.walk import walk
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.operators import DupElim, JoinedList, ReturnSelect, Semijoin
from weft.reference.pathsharing.show_operators import show_operators


def explain_own(engine: PathSharingEngine, number: int, query: str) -> str:
    """One query: its plan, and the operators that run for it alone."""
    known = engine.single.queries[number]
    way = f"answered one by one: PathSharing-{engine.single.approach}, operators of its own over shared paths"
    return "\n".join([query, "", show_flwr(known.plan), "", way, "", show_operators(known.physical)])


def explain_owns(engine: PathSharingEngine) -> str:
    """All such queries: which operators they have, and which claims hold."""
    queries = engine.single.queries.values()
    counts: Counter[str] = Counter()
    for query in queries:
        for part in walk(query.physical):
            match part:
                case DupElim(by=by):
                    counts[f"DupElim by {by}"] += 1
                case Semijoin(by=by, claim=claim):
                    counts[f"Semijoin by {by}{f', claim {claim}' if claim else ''}"] += 1
                case JoinedList(by=by, claims=claims):
                    why = f", claim {' and '.join(map(str, sorted(set(claims))))}" if claims else ""
                    counts[f"OuterJoin-Select by {by}{why}"] += 1
                case ReturnSelect(claims=(claim, *_)):
                    counts[f"DupElim of bindings removed, claim {claim}"] += 1
    lines = [f"{len(queries)} FLWR queries, each by a plan of its own: PathSharing-{engine.single.approach}"]
    return "\n".join(lines + [f"  {number:>9}  {operator}" for operator, number in counts.most_common()])
