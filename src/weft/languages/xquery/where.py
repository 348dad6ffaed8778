"""Variables and the where clause in, variables with their own tests and what is left of the clause out."""

from __future__ import annotations

from dataclasses import replace

from weft.plans.flwr import Variable
from weft.plans.plan import And, Not, On, Or, Test, conjunction, negation


def split_where(variables: tuple[Variable, ...], where: Test | None) -> tuple[tuple[Variable, ...], Test | None]:
    """Give each variable the conditions that concern it alone; the rest needs several at once."""
    tests: dict[int, list[Test]] = {}
    rest: list[Test] = []
    for part in where.tests if isinstance(where, And) else (where,) if where else ():
        concerned = _variables_of(part)
        if len(concerned) <= 1:  # what concerns none, a constant, is for the first
            tests.setdefault(concerned.pop() if concerned else 0, []).append(_without_scope(part))
        else:
            rest.append(part)
    with_tests = (replace(variable, where=conjunction(tests.get(at, []))) for at, variable in enumerate(variables))
    return tuple(with_tests), conjunction(rest)


def _variables_of(test: Test) -> set[int]:
    match test:
        case On(variable, _):
            return {variable}
        case And(tests) | Or(tests):
            return set().union(*map(_variables_of, tests))
        case Not(inner):
            return _variables_of(inner)
        case _:
            return set()


def _without_scope(test: Test) -> Test:
    match test:
        case On(_, inner):
            return inner
        case And(tests):
            return conjunction([_without_scope(part) for part in tests]) or test
        case Or(tests):
            return Or(tuple(_without_scope(part) for part in tests))
        case Not(inner):
            return negation(_without_scope(inner))
        case _:
            return test
