"""Label tests in, names out that they can tell apart: for each set of tests that a name can pass, one such name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.documents.kind import Kind
from weft.plans.containment.automaton import Symbol
from weft.plans.containment.label_tests import is_name
from weft.plans.plan import Label, Unlike

_FRESH = "other"


def symbols(labels: Iterable[tuple[Label, Kind]]) -> list[Symbol]:
    """One element, and one attribute where any are asked for, for each set of label tests that a name can pass."""
    mentioned = set(labels)
    found = []
    for kind in (Kind.ELEMENT, Kind.ATTRIBUTE):
        tests = [label for label, of in mentioned if of is kind]
        if tests or kind is Kind.ELEMENT:
            found += _distinct(kind, tests)
    if any(kind is Kind.TEXT for _, kind in mentioned):
        found.append(Symbol(Kind.TEXT, "text()"))
    return found


def _distinct(kind: Kind, tests: list[Label]) -> list[Symbol]:
    by_passed: dict[tuple[bool, ...], Symbol] = {}
    for name in _names(tests):
        symbol = Symbol(kind, name)
        by_passed.setdefault(tuple(symbol.is_like(test, kind) for test in tests), symbol)
    return list(by_passed.values())


def _names(tests: Iterable[Label]) -> Iterator[str]:
    """Names that are mentioned, those that only a wildcard passes, and one that nobody mentions."""
    flat = {each for test in tests for each in (test.labels if isinstance(test, Unlike) else (test,))}
    locals_, uris = set[str](), set[str]()
    for test in sorted(flat):
        if is_name(test):
            yield test
        uri, brace, local = test.rpartition("}")
        if brace:
            uris.add(uri[1:])
        locals_.add(local.removeprefix("*:"))
    fresh = _FRESH
    while fresh in locals_ or f"urn:{fresh}" in uris:
        fresh += "-"
    yield fresh
    if any(not is_name(test) and test != "*" for test in flat):  # else neither half of a name is asked for alone
        for local in [*sorted(locals_ - {"*"}), fresh]:
            yield local
            for uri in [*sorted(uris), f"urn:{fresh}"]:
                yield f"{{{uri}}}{local}"
