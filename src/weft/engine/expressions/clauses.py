"""FLWR expressions: clauses in, tuples of variables out, and what is returned for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.engine.expressions.atomics import at_most_one, atoms, key_of, truth
from weft.engine.expressions.comparing import comparable
from weft.engine.expressions.items import DynamicError, Items, SingleValue, TreeNode, Untyped
from weft.engine.expressions.join_index import JoinIndex
from weft.engine.expressions.prepared import JoinCondition
from weft.engine.expressions.scope import Run, Scope, evaluates, value
from weft.plans.clauses import CountClause, ForClause, GroupClause, LetClause, OrderClause, OrderKey, WhereClause
from weft.plans.expressions import Finding, FlwrExpression, Quantified

Tuples = list[dict[str, Items]]


@evaluates(FlwrExpression)
def flwr(expression: FlwrExpression, scope: Scope) -> Items:
    """What is returned, tuple by tuple."""
    return _returned(expression, _tuples(expression, scope), scope)


@evaluates(Finding)
def finding(expression: Finding, scope: Scope) -> Items:
    """The same as without the mark; whether something was found is put down."""
    inner, run = expression.expression, scope.run
    if isinstance(inner, FlwrExpression) and not expression.always:
        tuples = _tuples(inner, scope)
        run.has_found |= bool(tuples)
        return _returned(inner, tuples, scope)
    items = value(inner, scope)
    run.has_found |= expression.always or bool(items)
    return items


def _returned(expression: FlwrExpression, tuples: Tuples, scope: Scope) -> Items:
    made: Items = []
    for variables in tuples:
        made += value(expression.returned, scope.within(variables))
    scope.run.spend(len(made))
    return made


def _tuples(expression: FlwrExpression, scope: Scope) -> Tuples:
    run, tuples = scope.run, [scope.variables]
    for at, clause in enumerate(expression.clauses):
        match clause:
            case ForClause() if clause is run.first:
                tuples = [variables for each in tuples for variables in _first(clause, each, scope)]
            case ForClause():
                join = run.prepared.join(expression, at)
                tuples = _for(clause, tuples, scope) if join is None else _joined(clause, join, tuples, scope)
            case LetClause(name, inner):
                tuples = [{**each, name: value(inner, scope.within(each))} for each in tuples]
            case WhereClause() if any(clause is each for each in run.known):
                pass
            case WhereClause(condition):
                tuples = [each for each in tuples if truth(value(condition, scope.within(each)))]
            case OrderClause(keys):
                tuples = _ordered(keys, tuples, scope)
            case GroupClause(keys):
                names = {name for each in expression.clauses[:at] for name in (getattr(each, "name", None),) if name}
                names |= {each.place for each in expression.clauses[:at] if isinstance(each, ForClause) and each.place}
                tuples = _grouped(keys, names, tuples, run)
            case CountClause(name):
                tuples = [{**each, name: [place]} for place, each in enumerate(tuples, 1)]
        run.spend(len(tuples))
        if len(tuples) > run.limits.max_messages:
            raise DynamicError(f"{len(tuples)} nodes or bindings, more than {run.limits.max_messages}")
    return tuples


# -- for


def _for(clause: ForClause, tuples: Tuples, scope: Scope) -> Tuples:
    made: Tuples = []
    for each in tuples:
        items = value(clause.source, scope.within(each))
        scope.run.spend(len(items))
        made += _bindings(clause, each, items)
        if not items and clause.allows_empty:
            made.append({**each, clause.name: [], **({clause.place: [0]} if clause.place else {})})
    return made


def _first(clause: ForClause, variables: dict[str, Items], scope: Scope) -> Tuples:
    """The bindings of the nodes that are known to be the ones that are wanted."""
    nodes = scope.run.first_nodes
    scope.run.spend(len(nodes))
    if clause.place is None:
        return _bindings(clause, variables, nodes)
    items = value(clause.source, scope.within(variables))
    places = {item.number: place for place, item in enumerate(items) if isinstance(item, TreeNode)}
    return _bindings(clause, variables, items, [places[node.number] for node in nodes if isinstance(node, TreeNode)])


def _bindings(
    clause: ForClause, variables: dict[str, Items], items: Items, places: Sequence[int] | None = None
) -> Tuples:
    places = range(len(items)) if places is None else places
    if clause.place is None:
        return [{**variables, clause.name: [items[place]]} for place in places]
    return [{**variables, clause.name: [items[place]], clause.place: [place + 1]} for place in places]


def _joined(clause: ForClause, join: JoinCondition, tuples: Tuples, scope: Scope) -> Tuples:
    """The bindings that can pass a comparison with what was bound before; the where clause looks at them once more."""
    run = scope.run
    if not tuples:
        return []
    if not join.is_constant and len(tuples) == 1:
        return _for(clause, tuples, scope)
    memo = run.document.tree.memo
    key = run.prepared.index_key(clause, join) if join.is_constant else None
    index: JoinIndex | None = None if key is None else memo.get(key)
    if index is None:
        items = value(clause.source, scope.within(tuples[0]))
        run.spend(len(items))
        index = JoinIndex(items, [_inner(clause, join, item, tuples[0], scope) for item in items])
        if key is not None:
            memo[key] = index
    made: Tuples = []
    for each in tuples:
        outer = atoms(value(join.outer, scope.within(each)), run)
        places = index.places(join.operator, outer)
        run.spend(len(places))
        made += _bindings(clause, each, index.items, places)
    return made


def _inner(
    clause: ForClause, join: JoinCondition, item: Any, variables: dict[str, Items], scope: Scope
) -> list[SingleValue] | None:
    """The values of an item's side; nothing where it fails: the where clause will tell, if it comes to it."""
    try:
        return atoms(value(join.inner, scope.within({**variables, clause.name: [item]})), scope.run)
    except DynamicError:
        return None


# -- order by, group by


def _ordered(keys: tuple[OrderKey, ...], tuples: Tuples, scope: Scope) -> Tuples:
    """Tuples in order; those with equal keys stay as they were."""
    rows = list(range(len(tuples)))
    columns = [[_key(key, scope.within(each)) for each in tuples] for key in keys]
    for key, column in zip(reversed(keys), reversed(columns), strict=True):
        ranks = _ranks(column, key.empty_greatest)
        rows.sort(key=ranks.__getitem__, reverse=key.descending)
    return [tuples[row] for row in rows]


def _key(key: OrderKey, scope: Scope) -> SingleValue | None:
    single = at_most_one(value(key.value, scope), scope.run, "order by")
    return str(single) if isinstance(single, Untyped) else single


def _ranks(column: list[SingleValue | None], empty_greatest: bool) -> list[tuple[float, Any]]:
    """What each value is ordered by; NaN is next to what is empty."""
    some = [single for single in column if single is not None]
    if some:
        first = some[0]
        for each in some[1:]:
            comparable(first, each)  # fails where their types cannot be
    as_doubles = any(isinstance(single, float) for single in some)
    ranks: list[tuple[float, Any]] = []
    for single in column:
        if single is None:
            ranks.append((3 if empty_greatest else 0, 0))
        elif isinstance(single, float) and math.isnan(single):
            ranks.append((2.5 if empty_greatest else 1, 0))
        else:
            one = float(single) if as_doubles else comparable(single, single)[0]  # type: ignore[arg-type]
            ranks.append((2, one))
    return ranks


def _grouped(keys: tuple[str, ...], names: set[str], tuples: Tuples, run: Run) -> Tuples:
    """One tuple for each combination of keys, in the order in which they come; the other variables have all values."""
    groups: dict[tuple[Any, ...], Tuples] = {}
    for each in tuples:
        found = []
        for name in keys:
            single = at_most_one(each[name], run, "group by")
            found.append(None if single is None else key_of(single))
        groups.setdefault(tuple(found), []).append(each)
    made: Tuples = []
    for group in groups.values():
        first = dict(group[0])
        for name in names - set(keys):
            first[name] = [item for each in group for item in each[name]]
            run.spend(len(first[name]))
        made.append(first)
    return made


# -- some, every


@evaluates(Quantified)
def quantified(expression: Quantified, scope: Scope) -> Items:
    """`some`, `every`: as far as it takes to know."""
    return [_quantified(expression, 0, scope) != expression.is_every]


def _quantified(expression: Quantified, at: int, scope: Scope) -> bool:
    """Whether some combination decides: one that holds for `some`, one that does not for `every`."""
    if at == len(expression.bindings):
        return truth(value(expression.condition, scope)) != expression.is_every
    name, source = expression.bindings[at]
    items = value(source, scope)
    return any(_quantified(expression, at + 1, scope.binding(name, [item])) for item in items)
