"""A plan in, the expressions out that it asks a document for: the views that would serve it, as XPath writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from weft.documents.kind import Kind
from weft.headers.compile import ConditionCompiler
from weft.headers.conditions import AllOf, HeaderCondition, LookUp, OneNode
from weft.headers.configuration import configure
from weft.headers.expressions import Expression, position_of
from weft.languages import Plan
from weft.plans.plan import Label, Value


def asked(plan: Plan) -> list[Expression]:
    """The expressions whose nodes or values a plan is about, each once; the root element needs no view."""
    return list(asked_with_tests(plan))


def asked_with_tests(plan: Plan) -> dict[Expression, tuple[Value | None, ...]]:
    """The same, each with the tests that some of its nodes must pass in every document that matches.

    None among them means that there must be a node; an expression that is asked for otherwise, such as below an `or`,
    has no tests.
    """
    listener = _Listener()
    condition = listener.condition(plan)
    tests: list[dict[Value | None, None]] = [{} for _ in listener.asked]
    for needed in _needed(condition):
        tests[needed.entry][needed.test] = None
    return {chain: tuple(tests[at]) for chain, at in listener.asked.items()}


class _Listener(ConditionCompiler):
    """Compiles as if every expression had a view, and remembers which there are, by the numbers of their entries."""

    def __init__(self) -> None:
        super().__init__(configure("none", ()))
        self.asked: dict[Expression, int] = {}

    def _own(self, chain: Expression, test: Value | None) -> list[HeaderCondition]:
        if len(chain) == 1 and not chain[0].path[0].deep and test is None:
            return super()._own(chain, test)
        return [LookUp(self.asked.setdefault(chain, len(self.asked)), test)]


def _needed(condition: HeaderCondition) -> Iterator[LookUp]:
    """The look-ups that must all be true where a condition is."""
    match condition:
        case LookUp():
            yield condition
        case AllOf(parts):
            for part in parts:
                yield from _needed(part)
        case OneNode(_, part, True):
            yield from _needed(part)


@dataclass(slots=True)
class Writer:
    """Writes expressions as XPath; prefixes that it needs and that nobody gave are made up."""

    namespaces: dict[str, str] = field(default_factory=dict)  # by prefix

    def write(self, expression: Expression) -> str | None:
        """The XPath of an expression; None if it has tests other than positions."""
        written = []
        for link in expression:
            step = link.path[0]
            position = position_of(link)
            name = self._name(step.label, step.kind)
            if name is None or (link.test is not None and position is None):
                return None
            written.append(f"{'//' if step.deep else '/'}{name}{'' if position is None else f'[{position}]'}")
        return "".join(written)

    def _name(self, label: Label, kind: Kind) -> str | None:
        if kind is Kind.TEXT:
            return "text()"
        if not isinstance(label, str):
            return None
        at = "@" if kind is Kind.ATTRIBUTE else ""
        if not label.startswith("{"):
            return at + label
        uri, _, local = label[1:].rpartition("}")
        return f"{at}{self._prefix(uri)}:{local}"

    def _prefix(self, uri: str) -> str:
        for prefix, known in self.namespaces.items():
            if known == uri and prefix:
                return prefix
        number = 1
        while (prefix := f"n{number}") in self.namespaces:
            number += 1
        self.namespaces[prefix] = uri
        return prefix


def written(
    plans: Mapping[str, Plan], namespaces: Mapping[str, str] | None = None
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """For each query the XPaths that it asks for, and the prefixes that they use."""
    writer = Writer(dict(namespaces or {}))
    texts = {
        id: [text for each in asked(plan) if (text := writer.write(each)) is not None] for id, plan in plans.items()
    }
    return texts, writer.namespaces
