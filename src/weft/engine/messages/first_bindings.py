"""The variables and the where clause of a FLWR query in, the pattern of the first variable's nodes that count out.

What the clause asks of several variables at once becomes a test on the first: some nodes that the others could bind
pass their part of it. So the shared plan's drivers bring such a query up, and nobody looks where no constant is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.plans.flwr import Variable
from weft.plans.plan import Always, And, Link, Not, On, Or, Pattern, Test, conjunction, has, negation

_MOST_TERMS = 16  # that a clause may have as an `or` of conjunctions; what would be more is left for the bindings
_Conjunction = tuple[On, ...]  # all of these


def binding_pattern(variables: Sequence[Variable], where: Test | None = None) -> Pattern:
    """The first variable's nodes that can have bindings of all variables; `where` asks for several of these."""
    terms, _ = _terms(where)
    below = variables_below(variables)
    parts = [_first_test(variables, below, term) for term in terms]
    some = None if None in parts else _any_of([part for part in parts if part is not None])
    tests = [part for part in (variables[0].where, some) if part is not None]
    pattern: Pattern | None = None
    for link in with_test(variables[0].links, conjunction(tests)):
        pattern = Pattern(pattern, link.path, link.test)
    assert pattern is not None
    return pattern


def binds_exactly(where: Test | None) -> bool:
    """Whether all nodes of the pattern do have bindings."""
    return _terms(where)[1]


def own_test(
    variables: Sequence[Variable],
    variable: int,
    below: Mapping[int | None, list[int]],
    more: Mapping[int, list[Test]] | None = None,
) -> Test | None:
    """What a variable's own nodes must pass: its conditions, and that those below it have bindings."""
    where = variables[variable].where
    return conjunction([*([where] if where else []), *_around(variables, variable, below, more or {})])


def variables_below(variables: Sequence[Variable]) -> dict[int | None, list[int]]:
    """For each variable those that start from it."""
    below: dict[int | None, list[int]] = {}
    for at, variable in enumerate(variables):
        below.setdefault(variable.source, []).append(at)
    return below


def with_test(links: tuple[Link, ...], test: Test | None) -> tuple[Link, ...]:
    """Links whose last one has a test too."""
    both = conjunction([part for part in (links[-1].test, test) if part is not None])
    return (*links[:-1], Link(links[-1].path, both))


def _first_test(
    variables: Sequence[Variable], below: Mapping[int | None, list[int]], term: _Conjunction
) -> Test | None:
    """What the first variable's nodes must pass beside its own conditions, so that a term holds of some bindings."""
    more: dict[int, list[Test]] = {}
    for part in term:
        more.setdefault(part.variable, []).append(part.test)
    return conjunction(list(_around(variables, 0, below, more)))


def _around(
    variables: Sequence[Variable], variable: int, below: Mapping[int | None, list[int]], more: Mapping[int, list[Test]]
) -> Iterable[Test]:
    yield from more.get(variable, ())
    for at in below.get(variable, ()):
        yield has(variables[at].links, own_test(variables, at, below, more))


def _any_of(parts: list[Test]) -> Test:
    distinct = tuple(dict.fromkeys(parts))
    if not distinct:
        return Always(False)
    return distinct[0] if len(distinct) == 1 else Or(distinct)


def _terms(where: Test | None) -> tuple[list[_Conjunction], bool]:
    """The clause as an `or` of conjunctions, and whether it is that; if it would be too long, something weaker."""
    match where:
        case On():
            return [(where,)], True
        case None | Always(True):
            return [()], True
        case Always():
            return [], True
        case Not(inner):
            return _terms(_opposite(inner))
        case Or(tests):
            return _of_either(tests)
        case And(tests):
            return _of_all(tests)
        case _:
            raise TypeError(f"expected a test on a variable, found {where}")


def _of_either(tests: Iterable[Test]) -> tuple[list[_Conjunction], bool]:
    found: list[_Conjunction] = []
    is_exact = True
    for terms, is_whole in map(_terms, tests):
        found += terms
        is_exact &= is_whole
    return (found, is_exact) if len(found) <= _MOST_TERMS else ([()], False)


def _of_all(tests: Iterable[Test]) -> tuple[list[_Conjunction], bool]:
    found: list[_Conjunction] = [()]
    is_exact = True
    for terms, is_whole in map(_terms, tests):
        is_short = len(found) * len(terms) <= _MOST_TERMS
        is_exact &= is_whole and is_short
        if is_short:
            found = [(*one, *other) for one in found for other in terms]
    return found, is_exact


def _opposite(test: Test) -> Test:
    match test:
        case On(variable, inner):
            return On(variable, negation(inner))
        case And(tests):
            return Or(tuple(map(_opposite, tests)))
        case Or(tests):
            return And(tuple(map(_opposite, tests)))
        case _:
            return negation(test)
