"""An engine in, text out that tells how its subscriptions are answered, what they share, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weft.engine.engine import Engine
from weft.engine.fallbacks import fallbacks
from weft.engine.index import Index
from weft.engine.messages.outcome import Compound
from weft.engine.shared.nodes import NOTHING, NodeKind
from weft.engine.shared.show_nodes import NodeLines
from weft.engine.sharing import templates, ways
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection
from weft.plans.show import Line, show, show_flwr

_TOLD = {
    NodeKind.TEST: "value tests, by path, operator and constant",
    NodeKind.NAMED: "name tests",
    NodeKind.EXISTS: "nested paths",
    NodeKind.LIFT: "tests lifted to the node they are asked of",
    NodeKind.FIRST: "tests on the first node of a path",
    NodeKind.LINKED: "tests on the first node of a path with predicates",
    NodeKind.AND: "conjunctions",
    NodeKind.OR: "disjunctions",
    NodeKind.MEASURE: "counts and positions, each worked out once for a node",
    NodeKind.COMPARED: "counts and positions compared with a number",
    NodeKind.DERIVED: "what formulas make of a node, each worked out once for a node",
    NodeKind.DOWN: "patterns below a pattern with a test",
}


# -- all subscriptions


def explain_all(engine: Engine, top: int = 10) -> str:
    """The shared plan: its size, what is shared most, and the label paths seen most."""
    lines = [_some(len(engine), "subscription")]
    for index in engine.indexes:
        if len(index):
            title = "plan" if index is engine.large else "recent additions"
            lines += ["", f"{title}: {_some(len(index), 'subscription')}", *_explain_index(index, top)]
            lines += _explain_groups(index, top) if len(index.built) else []
    return "\n".join(lines)


def _explain_groups(index: Index, top: int) -> list[str]:
    """What FLWR queries share: groups by their shapes, lists by their return paths."""
    shapes, nodes = index.built.shapes.frozen(), NodeLines(index.shared, index.access)
    uses, chains = Counter(shapes.slots.entries.tolist()), index.built.shapes.chains()
    lines = ["", f"  {len(index.built)} FLWR queries: {len(shapes.results)} groups of bindings and return paths,"]
    lines += [f"  made of {len(uses)} shared lists; the most used (groups that have them):"]
    for chain, number in uses.most_common(top):
        lines.append(f"  {number:>9}  {nodes.chain(chains[chain])}")
    return lines


def _explain_index(index: Index, top: int) -> list[str]:
    shared, paths = index.shared, index.plans.paths
    sharing = index.subscribers.sharing()
    alike = Counter(templates(index).values())
    constants = sum(1 for size in alike.values() if size > 1)
    by_way = Counter(ways(index, index.results))
    lines = [f"  answered     {number:>9}  {way}" for way, number in by_way.most_common()]
    lines += [
        f"  states       {len(shared.states):>9}  in the automaton, one for each prefix of a path",
        f"  results      {len(index.subscribers):>9}  distinct queries; {len(sharing)} have more than one subscription",
        f"  templates    {len(alike):>9}  plans without their constants; {constants} have several rows",
        f"  label paths  {len(paths) - 1:>9}  seen so far",
    ]
    kinds = Counter(shared.nodes.kind)
    lines += [f"  {kind.name.lower():<12} {kinds[kind]:>9}  {text}" for kind, text in _TOLD.items() if kinds[kind]]
    if sharing:
        lines += ["", "  most shared results (subscriptions):"]
        order = sorted(sharing, key=lambda result: -sharing[result])[:top]
        lines += [f"  {sharing[result]:>9}  result {result}" for result in order]
    largest = [size for size in sorted(alike.values(), reverse=True)[:top] if size > 1]
    if largest:
        lines += ["", f"  largest templates (rows of constants): {', '.join(map(str, largest))}"]
    if len(paths) > 1:
        lines += ["", "  label paths seen most (nodes, subscriptions' paths that end there):"]
        often = sorted(range(1, len(paths)), key=lambda path: -int(paths.seen[path]))[:top]
        lines += [
            f"  {int(paths.seen[at]):>9} {paths.results_at(at).size:>7}  /{'/'.join(paths.names_of(at))}"
            for at in often
        ]
    return lines


def _some(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


# -- one subscription


def explain_one(engine: Engine, number: int, query: str, plan: Selection | Flwr | LoneQuery) -> str:
    """One subscription: its plan, what runs for it, with whom it shares, and what it costs those it does not match."""
    index = engine.index_of(number)
    lines = [query, "", _shown(plan), ""]
    lines += [
        f"answered {next(ways(index, [number]))}",
        *(f"{'  ' * depth}{text}" for depth, text in running(engine, number)),
    ]
    lines += ["", "shares", *(f"  {text}" for text in _sharing(index, number))]
    lines += ["", "costs a document that it does not match", *(f"  {text}" for text in _costs(index, number))]
    if left := fallbacks(index, number):
        lines += ["", "left to Python", *(f"  {text}" for text in left)]
    if seen := _seen(index, number):
        lines += ["", "seen at", *seen]
    return "\n".join(lines)


def _shown(plan: Selection | Flwr | LoneQuery) -> str:
    if isinstance(plan, LoneQuery):
        return f"needed for a message\n{show(plan.required, '  ')}"
    return show_flwr(plan) if isinstance(plan, Flwr) else show(plan)


def running(engine: Engine, number: int) -> list[Line]:
    """What runs for a subscription, as lines with their depths: results, and the shared nodes that they are made of."""
    index = engine.index_of(number)
    nodes = NodeLines(index.shared, index.access)
    lines: list[Line] = []
    if number in index.compounds:
        lines += _of_compound(index, nodes, index.compounds[number], 1)
    for result in index.results[number]:
        lines += _of_result(index, nodes, result, 1)
    if number in index.built:
        building = index.built.building(number)
        for at, (chain, source) in enumerate(zip(building.chains, building.sources, strict=True), 2):
            lines.append((1, f"variable {at}: {nodes.chain(chain)} from each binding of variable {source + 1}"))
        for chain, variable in zip(building.slots, building.slot_variables, strict=True):
            lines.append((1, f"list of variable {variable + 1}: {nodes.chain(chain)}"))
    return lines


def _of_result(index: Index, nodes: NodeLines, result: int, depth: int) -> Iterator[Line]:
    state, node = index.origin(result)
    if node == NOTHING:
        yield depth, f"result {result}: each {nodes.path(state)}, by its label path"
    else:
        yield depth, f"result {result}: each {nodes.path(state)} with"
        yield from nodes.lines(node, depth + 1)


def _of_compound(index: Index, nodes: NodeLines, compound: Compound, depth: int) -> Iterator[Line]:
    if isinstance(compound, int):
        yield from _of_result(index, nodes, compound, depth)
        return
    operator, parts = compound
    yield depth, f"{operator} of the nodes of"
    for part in parts:
        yield from _of_compound(index, nodes, part, depth + 1)


def _sharing(index: Index, number: int) -> Iterator[str]:
    wanted = index.subscribers.sharing()
    for result in index.results[number]:
        yield f"result {result}: wanted by {_some(wanted.get(result, 1), 'subscription')}"
    known = templates(index)
    alike = sum(template == known[number] for template in known.values())
    yield f"template: {_some(alike, 'subscription')} with this plan, constants aside"
    if number in index.built:
        others = index.built.sharing(number)
        yield f"groups: {_some(others, 'subscription')} with these bindings and return paths"
    if number in index.lone:
        yield f"query: {_some(index.lone.sharing(number), 'subscription')} with this one, worked out once for all"


def _costs(index: Index, number: int) -> list[str]:
    """What is done at documents in which it finds nothing."""
    nodes = NodeLines(index.shared, index.access)
    conditions = [node for _, node in map(index.origin, index.results_below(number)) if node != NOTHING]
    drivers = {driver for node in conditions for driver in nodes.drivers(node)}
    below = {at for node in conditions for at in nodes.all_below(node)} - drivers
    costs = [nodes.cost(driver) for driver in sorted(drivers)]
    costs += [
        f"{nodes.cost(at)}; it does not drive, and is looked at all the same"
        for at in sorted(below)
        if nodes.is_probed(at)
    ]
    if number in index.compounds:
        costs.append("set operations on the results of its parts, once for each batch")
    elif number in index.built and not index.built.building(number).is_exact:
        costs.append("bindings of its variables, where the first one's nodes pass: its where clause is long")
    return list(dict.fromkeys(costs)) or ["nothing: a document without its label paths does not come near it"]


def _seen(index: Index, number: int) -> list[str]:
    paths, states = index.plans.paths, index.shared.states
    ends = {index.origin(result)[0] for result in index.results_below(number)}
    seen = sorted({at for end in ends for at in paths.ending([states.code(step) for step in states.path(end)])})
    return [f"  {int(paths.seen[at]):>9}  /{'/'.join(paths.names_of(at))}" for at in seen[:20]]
