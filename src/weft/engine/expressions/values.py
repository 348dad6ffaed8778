"""Constants, variables, sequences, conditions, types and calls of the query's own functions: what they come to."""

from __future__ import annotations

from weft.engine.expressions.atomics import at_most_one, atoms, cast, castable, is_number, truth, type_of
from weft.engine.expressions.comparing import comparable
from weft.engine.expressions.items import BuiltNode, DynamicError, Item, Items, SingleValue, TreeNode, Untyped, is_node
from weft.engine.expressions.scope import Run, Scope, evaluates, tree_node, value
from weft.engine.expressions.trees import NodeKinds
from weft.plans.expressions import (
    Cast,
    Connected,
    ConstantValue,
    IfElse,
    InTurn,
    NodeTest,
    SequenceType,
    Switch,
    Typed,
    UserCall,
    VariableUse,
)

_KIND_NAMES = {
    NodeKinds.DOCUMENT: "document",
    NodeKinds.ELEMENT: "element",
    NodeKinds.ATTRIBUTE: "attribute",
    NodeKinds.TEXT: "text",
}
_LABELLED = {"element": NodeKinds.ELEMENT, "attribute": NodeKinds.ATTRIBUTE}
_FEWEST = {"": 1, "?": 0, "*": 0, "+": 1}


@evaluates(ConstantValue)
def written(expression: ConstantValue, _: Scope) -> Items:
    """A constant."""
    return [expression.value]


@evaluates(VariableUse)
def variable_use(expression: VariableUse, scope: Scope) -> Items:
    """A variable's value."""
    return scope.variables[expression.name]


@evaluates(InTurn)
def in_turn(expression: InTurn, scope: Scope) -> Items:
    """Sequences one behind the other."""
    found: Items = []
    for part in expression.parts:
        found += value(part, scope)
    scope.run.spend(len(found))
    return found


@evaluates(Connected)
def connected(expression: Connected, scope: Scope) -> Items:
    """`and`, `or`: from left to right, as far as it takes."""
    decides = expression.operator == "or"
    for part in expression.parts:
        if truth(value(part, scope)) == decides:
            return [decides]
    return [not decides]


@evaluates(IfElse)
def choice(expression: IfElse, scope: Scope) -> Items:
    """`if`."""
    is_so = truth(value(expression.condition, scope))
    return value(expression.then if is_so else expression.otherwise, scope)


@evaluates(Switch)
def switch(expression: Switch, scope: Scope) -> Items:
    """`switch`: the first case that is equal."""
    run = scope.run
    wanted = _text(at_most_one(value(expression.operand, scope), run, "switch"))
    for case, returned in expression.cases:
        single = _text(at_most_one(value(case, scope), run, "case"))
        if _is_same(wanted, single):
            return value(returned, scope)
    return value(expression.default, scope)


def _text(single: SingleValue | None) -> SingleValue | None:
    return str(single) if isinstance(single, Untyped) else single


def _is_same(one: SingleValue | None, other: SingleValue | None) -> bool:
    if one is None or other is None:
        return one is other
    try:
        left, right = comparable(one, other)
    except DynamicError:
        return False
    return left == right


@evaluates(Cast)
def cast_expression(expression: Cast, scope: Scope) -> Items:
    """`cast as`, and whether that can be done."""
    items = value(expression.operand, scope)
    if expression.asks:
        found = atoms(items, scope.run)
        if len(found) == 1:
            return [castable(found[0], expression.type)]
        return [not found and expression.is_optional]
    single = at_most_one(items, scope.run, f"xs:{expression.type}")
    if single is None:
        if expression.is_optional:
            return []
        raise DynamicError(f"xs:{expression.type}: expected one item, found none")
    return [cast(single, expression.type)]


# -- types


@evaluates(Typed)
def typed(expression: Typed, scope: Scope) -> Items:
    """`instance of`, `treat as`, and what functions take and give."""
    items, run = value(expression.operand, scope), scope.run
    if expression.how == "instance":
        return [_has_type(items, expression.type, run)]
    if expression.how == "convert" and isinstance(expression.type.item, str):
        items = _converted(items, expression.type.item, run)
    if not _has_type(items, expression.type, run):
        raise DynamicError(f"expected {shown_type(expression.type)}, found {_shown(items)}")
    return items


def _shown(items: Items) -> str:
    if len(items) != 1:
        return f"{len(items)} items"
    return "a node" if is_node(items[0]) else f"a value of xs:{type_of(items[0])}"


def shown_type(type: SequenceType) -> str:
    """A type as it is written."""
    item = type.item
    if isinstance(item, NodeTest):
        return f"{item.kind}({'' if item.label == '*' else item.label}){type.occurrence}"
    if item in ("item", "empty"):
        return f"item(){type.occurrence}" if item == "item" else "empty-sequence()"
    return f"xs:{item}{type.occurrence}"


def _converted(items: Items, wanted: str, run: Run) -> Items:
    """What a function takes: single values, those without a type as what is asked for, numbers made wider."""
    if wanted in ("item", "empty"):
        return items
    found: Items = []
    for single in atoms(items, run):
        if isinstance(single, Untyped) and wanted not in ("untypedAtomic", "anyAtomicType"):
            found.append(cast(single, "double" if wanted == "numeric" else wanted))
        elif is_number(single) and wanted == "double":
            found.append(cast(single, wanted))
        else:
            found.append(single)
    return found


def _has_type(items: Items, type: SequenceType, run: Run) -> bool:
    if type.item == "empty":
        return not items
    most = 1 if type.occurrence in ("", "?") else len(items)
    if not _FEWEST[type.occurrence] <= len(items) <= most:
        return False
    return all(_is_of(item, type.item, run) for item in items)


def _is_of(item: Item, wanted: str | NodeTest, run: Run) -> bool:
    if isinstance(wanted, NodeTest):
        return _passes(item, wanted, run)
    if wanted == "item":
        return True
    if is_node(item):
        return False
    match wanted:
        case "anyAtomicType":
            return True
        case "numeric":
            return is_number(item)
        case "decimal":
            return type_of(item) in ("decimal", "integer")
        case _:
            return type_of(item) == wanted


def _passes(item: Item, test: NodeTest, run: Run) -> bool:
    if not is_node(item):
        return False
    kind = item.kind if isinstance(item, BuiltNode) else _KIND_NAMES[NodeKinds(item.kind)]  # type: ignore[union-attr]
    if test.kind not in ("node", kind):
        return False
    if test.label == "*":
        return True
    node = tree_node(item, run)
    assert isinstance(node, TreeNode)
    return node.tree.name[node.number] in node.tree.passing(_LABELLED[test.kind], test.label)


# -- the query's own functions


@evaluates(UserCall)
def user_call(expression: UserCall, scope: Scope) -> Items:
    """A function, in which only its parameters and the query's variables are known; or one of these."""
    run = scope.run
    declared = run.functions[expression.name]
    if not declared.parameters and expression.name.startswith("$"):
        if expression.name not in run.memo:
            document = Scope(run, {}, run.document, 1, 1)
            run.memo[expression.name] = value(declared.body, document)
        found: Items = run.memo[expression.name]
        return found
    arguments = [value(argument, scope) for argument in expression.arguments]
    return value(declared.body, Scope(run, dict(zip(declared.parameters, arguments, strict=True))))
