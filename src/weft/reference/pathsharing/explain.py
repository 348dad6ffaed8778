"""FLWR queries that are answered by plans of their own in, text about their operators out."""

from __future__ import annotations

from collections import Counter

from weft.plans.show import show_flwr
from weft.plans.walk import walk
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.operators import DupElim, JoinedList, ReturnSelect, Semijoin
from weft.reference.pathsharing.plan_sharing import PlanSharing
from weft.reference.pathsharing.show_operators import show_operators


def explain_own(engine: PathSharingEngine, number: int, query: str) -> str:
    """One query: its plan, and the operators that run for it alone."""
    known = engine.single.queries[number]
    way = f"answered {_way(engine, number)}"
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
    if isinstance(engine.single, PlanSharing):
        joins = engine.single.operators.joins.values()
        selections, outputs = sum(map(len, joins)), sum(len(each.outputs) for some in joins for each in some.values())
        lines = [f"{len(queries)} FLWR queries, by merged plans: PlanSharing"]
        shared = ((len(joins), "shared joins"), (selections, "shared selections"), (outputs, "outputs of these"))
        lines += [f"  {number:>9}  {name}" for number, name in shared]
    return "\n".join(lines + [f"  {number:>9}  {operator}" for operator, number in counts.most_common()])


def _way(engine: PathSharingEngine, number: int) -> str:
    if not isinstance(engine.single, PlanSharing):
        return f"one by one: PathSharing-{engine.single.approach}, operators of its own over shared paths"
    merged = engine.single.operators.merged(number)
    if merged is None:
        return "by PlanSharing: operators of its own, but for the grouping of return paths"
    selections = engine.single.operators.joins[merged.join]
    outputs = len(selections[merged.selection].outputs)
    return f"by PlanSharing: an output of {outputs} of a shared selection, above a join that {len(selections)} share"
