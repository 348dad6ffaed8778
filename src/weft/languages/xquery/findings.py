"""An expression in, the same with marks on what decides whether there is a message out.

A message is made where something is found: a FLWR expression has a binding, or a path outside of such leads somewhere.
Elements around that, texts, and counts of nothing are no findings.
"""

from __future__ import annotations

from dataclasses import replace

from weft.languages.xquery.path_expressions import TRUTHS
from weft.plans.clauses import ForClause, WhereClause
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf
from weft.plans.expressions import (
    Calculation,
    Call,
    Cast,
    ComparedItems,
    Connected,
    ConstantValue,
    Finding,
    FlwrExpression,
    IfElse,
    InTurn,
    Negative,
    Quantified,
    QueryExpression,
    Switch,
    Typed,
)
from weft.plans.walk import walk

#: Functions that pass on what is in a sequence: they find what they give.
PASSING = frozenset(
    [
        "data",
        "distinct-values",
        "zero-or-one",
        "exactly-one",
        "one-or-more",
        "reverse",
        "head",
        "tail",
        "unordered",
        "subsequence",
        "insert-before",
        "remove",
        "root",
        "index-of",
        "tokenize",
    ]
)


def with_findings(body: QueryExpression) -> QueryExpression:
    """The body of a query with its marks; what looks for nothing at all has a message for every document."""
    marked = _marked(body)
    return marked if _has_findings(marked) else Finding(marked, always=True)


def _has_findings(expression: QueryExpression) -> bool:
    return any(isinstance(part, Finding) for part in walk(expression))


# Long: what each kind of expression has that can find something.
def _marked(expression: QueryExpression) -> QueryExpression:
    match expression:
        case ConstantValue() | Finding():
            return expression
        case FlwrExpression(clauses, returned):
            if any(isinstance(clause, ForClause | WhereClause) for clause in clauses):
                return Finding(expression)
            return replace(expression, returned=_marked(returned))
        case InTurn(parts):
            return InTurn(tuple(map(_marked, parts)))
        case Calculation(_, left, right):
            return replace(expression, left=_marked(left), right=_marked(right))
        case Negative(operand):
            return Negative(_marked(operand))
        case Cast(operand, asks=asks):
            return Finding(expression, always=True) if asks else replace(expression, operand=_marked(operand))
        case ComparedItems() | Connected() | Quantified():
            return Finding(expression, always=True)
        case Typed(operand, _, how):
            return (
                Finding(expression, always=True) if how == "instance" else replace(expression, operand=_marked(operand))
            )
        case Call(name, arguments) if name not in PASSING:
            if name in TRUTHS:
                return Finding(expression, always=True)
            return Call(name, tuple(map(_marked, arguments)))
        case IfElse(condition, then, otherwise):
            return IfElse(condition, _branch(then), _branch(otherwise))
        case Switch(operand, cases, default):
            return Switch(operand, tuple((case, _branch(value)) for case, value in cases), _branch(default))
        case BuiltElement(attributes=attributes, content=content):
            return replace(
                expression,
                attributes=tuple(replace(each, parts=tuple(map(_marked, each.parts))) for each in attributes),
                content=tuple(map(_marked, content)),
            )
        case BuiltAttribute(parts=parts):
            return replace(expression, parts=tuple(map(_marked, parts)))
        case BuiltLeaf(content=content):
            return replace(expression, content=_marked(content))
        case _:
            return Finding(expression)


def _branch(expression: QueryExpression) -> QueryExpression:
    """A branch that looks for nothing is found if it is taken, unless it is empty."""
    marked = _marked(expression)
    return marked if _has_findings(marked) or marked == InTurn(()) else Finding(marked, always=True)
