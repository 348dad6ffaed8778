"""An engine in, text out: for each test group its place, what it costs there, and what it would cost elsewhere."""

from __future__ import annotations

import numpy as np

from weft.engine.access import TestGroups
from weft.engine.engine import Engine
from weft.engine.shared.nodes import NOTHING, OPERATORS, NodeKind
from weft.engine.shared.plan import SharedPlan
from weft.engine.statistics import GroupCounts
from weft.optimizer.adapting import Adapting, new_choice
from weft.optimizer.group_costs import GroupUnitCosts
from weft.optimizer.groups import AccessChoice
from weft.plans.show import show_path

_COLUMNS = f"  {'place':<10} {'parts':>7} {'rows':>8} {'asked':>9} {'holds':>6} {'µs in':>9} {'µs out':>9}  group"


def explain_groups(engine: Engine, adapting: Adapting, top: int = 40) -> str:
    """The groups of the large plan, by what they cost; what is counted is of a document on average."""
    statistics = engine.large.statistics
    counts = None if statistics is None else statistics.counts
    if statistics is None or statistics.groups is None or counts is None:
        return "costs: not known, as no batch was counted since the plan was made"
    if not engine.can_retrieve:
        return "costs: not known, as the plan is being made anew"
    groups, units = statistics.groups, adapting.units
    choice = new_choice(engine.large, groups, counts, units)
    lines = [
        f"costs of {len(groups) - 1} test groups, by {counts.documents:,.0f} documents that were counted",
        f"  observed     {1e6 * counts.seconds:>9.1f}  µs a document to evaluate conditions",
        f"  estimated    {1e6 * choice.before:>9.1f}  µs for conjunctions as they are retrieved now",
        f"  estimated    {1e6 * choice.after:>9.1f}  µs as it would be chosen now",
        f"  changes      {adapting.changes:>9}  so far; {adapting.verdict}",
        f"  counting     {100 * statistics.share:>9.2f}  % of the time of matching",
        "",
        _COLUMNS,
    ]
    order = np.argsort(-_weights(groups, choice, units), kind="stable")
    shown = [group for group in order.tolist() if group][:top]
    lines += [_line(engine, groups, counts, choice, units, group) for group in shown]
    lines += [f"  … and {len(groups) - 1 - len(shown)} groups that cost less"] if len(groups) - 1 > len(shown) else []
    return "\n".join(lines)


def _weights(groups: TestGroups, choice: AccessChoice, units: GroupUnitCosts) -> np.ndarray:
    parts = choice.costs
    facts = groups.size * np.nan_to_num(parts.facts) * units.fact
    return np.where(choice.drives > 0, parts.retrieved + facts, choice.asked * parts.looked_at)


# Long: a line has many cells.
def _line(
    engine: Engine, groups: TestGroups, counts: GroupCounts, choice: AccessChoice, units: GroupUnitCosts, group: int
) -> str:
    parts, passing = choice.costs, choice.costs.passing[group]
    is_known = not np.isnan(passing)
    inside = parts.retrieved[group] + groups.size[group] * parts.facts[group] * units.fact
    outside = choice.asked[group] * parts.looked_at[group]
    drives = int(choice.drives[group])
    place = "driver" if drives else "in" if choice.is_in[group] else "out"
    if drives:
        why = f"; drives {drives}"
    elif not is_known:
        why = "; neither drives nor is in: how often it holds is not known"
    elif choice.is_in[group]:
        why = "; out is rejected: it would cost more"
    elif not choice.can[group]:
        why = "; in is rejected: its facts do not come up from values"
    else:
        why = "; in is rejected: it would cost more" if inside > outside else "; in is rejected: it spares too little"
    cells = [
        f"  {place:<10} {groups.size[group]:>7} {counts.rows[group]:>8.2f} {counts.asked[group]:>9.1f}",
        f"{passing:>6.1%}" if is_known else f"{'–':>6}",
        f"{1e6 * inside:>9.2f}" if is_known else f"{'–':>9}",
        f"{1e6 * outside:>9.2f}",
        f" {group_name(engine.large.shared, int(groups.example[group]))}{why}",
    ]
    return " ".join(cells)


def group_name(shared: SharedPlan, node: int) -> str:
    """What a part asks for, without its constant."""
    nodes, row = shared.nodes, shared.nodes.row[node]
    kind, at = NodeKind(nodes.kind[node]), show_path(shared.states.path(nodes.state[node])) or "/"
    edge = nodes.edge[node]
    below = "." if edge == NOTHING else show_path(shared.path_of(edge)).removeprefix("/")
    test = shared.lifts.child[row] if kind is NodeKind.LIFT else node
    if nodes.kind[test] == NodeKind.TEST:
        return f"{at}[{below} {OPERATORS[shared.tests.operator[nodes.row[test]]]} …]"
    return f"{at}[{below}]" if kind is NodeKind.EXISTS else f"{at}: {kind.name.lower()} of {below}"
