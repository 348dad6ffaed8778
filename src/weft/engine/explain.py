"""An engine in, text out that tells how its subscriptions are answered and what they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice

from weft.documents.dtd import Dtd
from weft.engine.engine import Engine
from weft.engine.index import Index
from weft.engine.shared.plan import NodeKind
from weft.languages import Plan
from weft.plans.flwr import Flwr
from weft.plans.plan import Selection
from weft.plans.show import show, show_flwr, show_path
from weft.plans.walk import walk
from weft.reference.pathsharing.operators import DupElim, JoinedList, ReturnSelect, Semijoin
from weft.reference.pathsharing.optimize import optimize
from weft.reference.pathsharing.show_operators import show_operators

_TOLD = {
    NodeKind.TEST: "value tests, by path, operator and constant",
    NodeKind.NAMED: "name tests",
    NodeKind.EXISTS: "nested paths",
    NodeKind.LIFT: "tests lifted to the node they are asked of",
    NodeKind.FIRST: "tests on the first node of a path",
    NodeKind.LINKED: "counts, and first nodes of paths with predicates",
    NodeKind.AND: "conjunctions",
    NodeKind.OR: "disjunctions",
    NodeKind.RANK: "positions",
    NodeKind.DOWN: "patterns below a pattern with a test",
}


_SAMPLE = 1_000  # FLWR queries whose own plans are counted


def explain_all(engine: Engine, flwr: Iterable[Plan] = (), dtd: Dtd | None = None, top: int = 10) -> str:
    """The shared plan: its size, what is shared most, and the label paths seen most."""
    lines = [_some(len(engine), "subscription")]
    for title, index in (("plan", engine.large), ("recent additions", engine.small)):
        if len(index):
            lines += ["", f"{title}: {_some(len(index), 'subscription')}", *_explain_index(index, top)]
            lines += _explain_groups(index, top) if len(index.built) else []
    return "\n".join(lines + _explain_operators(list(islice(flwr, _SAMPLE)), dtd))


def _explain_groups(index: Index, top: int) -> list[str]:
    """What FLWR queries share: groups by their shapes, lists by their return paths."""
    shapes = index.built.shapes
    uses = Counter(shapes.slots.entries.tolist())
    lines = ["", f"  {len(index.built)} FLWR queries: {len(shapes.results)} groups of bindings and return paths,"]
    lines += [f"  made of {len(shapes.chains)} shared lists; the most used (groups that have them):"]
    for chain, number in uses.most_common(top):
        path = "".join(show_path(index.shared.path_of(edge)) for edge, _ in shapes.chains[chain]) or "/."
        lines.append(f"  {number:>9}  ${path}")
    return lines


def _explain_operators(plans: list[Plan], dtd: Dtd | None) -> list[str]:
    """What plans of their own (PathSharing-FWR) would be made of, and which claims hold."""
    counts: Counter[str] = Counter()
    for plan in plans:
        for part in walk(optimize(plan, "FWR", dtd)) if isinstance(plan, Flwr) else ():
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
    if not counts:
        return []
    lines = ["", f"as {_some(len(plans), 'plan')} of their own (PathSharing-FWR) the FLWR queries would have:"]
    return lines + [f"  {number:>9}  {operator}" for operator, number in counts.most_common()]


def _explain_index(index: Index, top: int) -> list[str]:
    shared, paths = index.shared, index.plans.paths
    sharing = index.targets.sharing()
    constants = sum(1 for size in index.templates.values() if size > 1)
    lines = [
        f"  states       {len(shared.states):>9}  in the automaton, one for each prefix of a path",
        f"  results      {len(index.targets):>9}  distinct queries; {len(sharing)} have more than one subscription",
        f"  templates    {len(index.templates):>9}  plans without their constants; {constants} have several rows",
        f"  label paths  {len(paths) - 1:>9}  seen so far",
    ]
    kinds = Counter(shared.kind)
    lines += [f"  {kind.name.lower():<12} {kinds[kind]:>9}  {text}" for kind, text in _TOLD.items() if kinds[kind]]
    if sharing:
        lines += ["", "  most shared results (subscriptions):"]
        order = sorted(sharing, key=lambda result: -sharing[result])[:top]
        lines += [f"  {sharing[result]:>9}  result {result}" for result in order]
    largest = [size for size in sorted(index.templates.values(), reverse=True)[:top] if size > 1]
    if largest:
        lines += ["", f"  largest templates (rows of constants): {', '.join(map(str, largest))}"]
    if len(paths) > 1:
        lines += ["", "  label paths seen most (nodes, subscriptions' paths that end there):"]
        often = sorted(range(1, len(paths)), key=lambda path: -int(paths.seen[path]))[:top]
        lines += [
            f"  {int(paths.seen[at]):>9} {paths.plans[at].results.size:>7}  /{'/'.join(paths.names_of(at))}"
            for at in often
        ]
    return lines


def _some(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def explain_one(engine: Engine, number: int, query: str, plan: Selection | Flwr, dtd: Dtd | None = None) -> str:
    """One subscription: its plan, what it shares, and where its results were seen."""
    operators = f"\n{show_operators(optimize(plan, 'FWR', dtd))}" if isinstance(plan, Flwr) else ""
    if engine.single is not None and number in engine.single.queries:
        physical = engine.single.queries[number].physical
        return "\n".join([query, "", show_flwr(engine.single.queries[number].plan), "", show_operators(physical)])
    index = engine.large if number in engine.large.results else engine.small
    results = index.results[number]
    wanted = index.targets.sharing()
    shown = show_flwr(plan) if isinstance(plan, Flwr) else show(plan)
    lines = [query, "", shown, operators, ""] if operators else [query, "", shown, ""]
    lines += [f"result {result}: {_some(wanted.get(result, 1), 'subscription')}" for result in results]
    if number in index.compounds:
        lines.append("worked out node by node from the results of its parts")
    rows = index.template_rows(number)
    lines.append(f"template: {_some(rows, 'subscription')} with this plan, constants aside")
    if number in index.built:
        others = index.built.sharing(number)
        lines.append(f"groups: shared by {_some(others, 'subscription')} with these bindings and return paths")
    paths = index.plans.paths
    states = {index.state_of(result) for result in results}
    seen = [at for at in range(1, len(paths)) if not states.isdisjoint(paths.reached(at).tolist())]
    if seen:
        lines += ["", "seen at:"]
        lines += [f"  {int(paths.seen[at]):>9}  /{'/'.join(paths.names_of(at))}" for at in seen[:20]]
    return "\n".join(lines)
