"""An expression in, what its text alone tells out: which variables it uses, and what joins its clauses."""

from __future__ import annotations

from dataclasses import dataclass

from weft.engine.expressions.items import TreeNode
from weft.engine.expressions.scope import Scope
from weft.plans.clauses import Clause, ForClause, LetClause, WhereClause
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf
from weft.plans.expressions import (
    Call,
    ComingDocument,
    ComparedItems,
    Connected,
    ContextItem,
    Filtered,
    FlwrExpression,
    Mapped,
    QueryExpression,
    Steps,
    TreeRoot,
    UserCall,
    VariableUse,
)
from weft.plans.walk import walk

_ORDERED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Uses:
    """What an expression depends on."""

    names: frozenset[str]
    looks: bool  # at the context item
    has_root: bool
    builds: bool
    calls: bool  # functions of the query, or its variables, which mean something in it alone


@dataclass(frozen=True, slots=True)
class JoinCondition:
    """What a where clause asks of a `for` variable and of what was bound before: of both one side of a comparison."""

    operator: str  # with the outer side on its left
    outer: QueryExpression
    inner: QueryExpression
    is_constant: bool  # the index is the same whenever the clause is worked out


class Prepared:
    """What is known of the expressions of one program; worked out when it is first asked for."""

    def __init__(self, numbers: dict[object, int] | None = None) -> None:
        """`numbers` are those of expressions of all queries, which what is the same in several is called by."""
        self._numbers = {} if numbers is None else numbers
        self._keys: dict[int, int] = {}
        self._uses: dict[int, Uses] = {}
        self._joins: dict[tuple[int, int], JoinCondition | None] = {}

    def uses(self, expression: QueryExpression) -> Uses:
        """What an expression depends on; names that it binds itself count too."""
        found = self._uses.get(id(expression))
        if found is None:
            parts = list(walk(expression))
            names = frozenset(part.name for part in parts if isinstance(part, VariableUse))
            found = self._uses[id(expression)] = Uses(
                names,
                _looks(expression),
                any(isinstance(part, TreeRoot) for part in parts),
                any(isinstance(part, BuiltElement | BuiltAttribute | BuiltLeaf) for part in parts),
                any(isinstance(part, UserCall) for part in parts),
            )
        return found

    def constant_key(self, expression: Steps, scope: Scope) -> int | None:
        """A key for paths that lead to the same nodes wherever they are gone; nothing for others."""
        if not isinstance(expression.start, ComingDocument | TreeRoot):
            return None
        uses = self.uses(expression)
        if uses.names or uses.looks or uses.builds or uses.calls:
            return None
        if uses.has_root and not (isinstance(scope.item, TreeNode) and scope.item.tree is scope.run.document.tree):
            return None
        return self._number(id(expression), expression)

    def _number(self, own: int, expression: object) -> int:
        """The number of what one or several queries ask for."""
        found = self._keys.get(own)
        if found is None:
            found = self._keys[own] = self._numbers.setdefault(expression, len(self._numbers))
        return found

    def index_key(self, clause: ForClause, join: JoinCondition) -> int:
        """What the index of a `for` clause is called that is the same whenever it is worked out."""
        return self._number(id(join), (clause.name, clause.source, join.inner))

    def join(self, flwr: FlwrExpression, at: int) -> JoinCondition | None:
        """The comparison that tells which items of a `for` clause are wanted, if there is one."""
        key = (id(flwr), at)
        if key not in self._joins:
            self._joins[key] = self._join(flwr.clauses, at)
        return self._joins[key]

    def _join(self, clauses: tuple[Clause, ...], at: int) -> JoinCondition | None:
        clause = clauses[at]
        assert isinstance(clause, ForClause)
        before, later = _bound_by(clauses[:at]), _bound_by(clauses[at:])
        source = self.uses(clause.source)
        if source.names & before or source.builds or clause.allows_empty or clause.name in before:
            return None
        for condition in _conditions(clauses[at + 1 :]):
            found = self._side_by_side(condition, clause.name, before, later)
            if found is not None:
                operator, outer, inner = found
                uses = self.uses(inner)
                is_constant = not (source.names or source.looks or uses.looks or uses.names - {clause.name})
                is_constant = is_constant and not (source.calls or uses.calls)
                return JoinCondition(operator, outer, inner, is_constant)
        return None

    def _side_by_side(
        self, condition: ComparedItems, name: str, before: frozenset[str], later: frozenset[str]
    ) -> tuple[str, QueryExpression, QueryExpression] | None:
        """The operator, the side that was bound before, and the side of the new variable alone."""
        left, right = self.uses(condition.left), self.uses(condition.right)
        for inner, outer, is_turned in ((right, left, False), (left, right, True)):
            if name in inner.names and not (inner.names & before) and not (outer.names & later):
                if inner.builds or outer.builds or (inner.names - {name}) & later:
                    continue
                if is_turned:
                    return _ORDERED.get(condition.operator, "="), condition.right, condition.left
                return condition.operator, condition.left, condition.right
        return None


def _conditions(clauses: tuple[Clause, ...]) -> list[ComparedItems]:
    """The comparisons that all tuples must pass, as far as nothing counts or puts tuples together before."""
    found: list[ComparedItems] = []
    for clause in clauses:
        if isinstance(clause, WhereClause):
            condition = clause.condition
            is_and = isinstance(condition, Connected) and condition.operator == "and"
            parts = condition.parts if isinstance(condition, Connected) and is_and else (condition,)
            found += [
                part
                for part in parts
                if isinstance(part, ComparedItems) and part.kind == "general" and part.operator in ("=", *_ORDERED)
            ]
        elif not isinstance(clause, ForClause | LetClause):
            break
    return sorted(found, key=lambda each: each.operator != "=")


def _bound_by(clauses: tuple[Clause, ...]) -> frozenset[str]:
    names = [getattr(clause, name, None) for clause in clauses for name in ("name", "place")]
    return frozenset(name for name in names if isinstance(name, str))


def _looks(expression: object) -> bool:
    """Whether an expression looks at the context item outside of predicates and steps, which have their own."""
    match expression:
        case ContextItem() | Call("position" | "last"):
            return True
        case Steps(start=inner) | Filtered(operand=inner) | Mapped(operand=inner):
            return _looks(inner)
        case tuple():
            return any(map(_looks, expression))
        case _:
            names = getattr(expression, "__dataclass_fields__", ())
            return any(_looks(getattr(expression, name)) for name in names)
