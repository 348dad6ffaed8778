"""A formula that selects nodes in, the selection of them out: where they can lie as patterns, and which they are."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.languages.xpath.above import knowing, never
from weft.languages.xpath.derived import needs_at_root
from weft.plans.formulas import (
    DOWNWARD,
    PLACES,
    Applied,
    Fixed,
    Formula,
    Move,
    NodeFilter,
    NodePath,
    NodeSet,
    Related,
    Walk,
)
from weft.plans.plan import Among, Combine, Derived, Label, Pattern, Selection, Step, Test, Value, conjunction
from weft.plans.walk import walk

_ELEMENTS, _TEXTS, _ATTRIBUTES = Step("*", True), Step("text()", True, Kind.TEXT), Step("*", True, Kind.ATTRIBUTE)
_ALL = [_ELEMENTS, _TEXTS, _ATTRIBUTES]


def selection_of_formula(formula: Formula) -> Selection:
    """The nodes that a formula selects: it is worked out once for a document that has what it needs.

    before  //a[k = 1]/following-sibling::b[2]
    after   /*[.//a[k = 1]]//b[member of the formula] | /b[.//a[k = 1]][member of the formula]
    """
    asked, member = needs_at_root(formula), _of_places(formula) or Among(formula)
    patterns: list[Selection] = []
    if asked is not None and _goes_down(formula) and not any(isinstance(part, Value) for part in walk(asked)):
        asked = None  # that nodes are there to be asked says as much
    for step in dict.fromkeys(_ends(formula)):
        if asked is None:
            patterns.append(Pattern(None, (step,), member))
            continue
        patterns.append(Pattern(Pattern(None, (Step("*"),), asked), (step,), member))
        if step.kind is Kind.ELEMENT:
            known = knowing(asked, step.label)
            if not never(known):
                patterns.append(Pattern(None, (Step(step.label),), conjunction([known, member])))
    return patterns[0] if len(patterns) == 1 else Combine("union", tuple(patterns))


def _of_places(formula: Formula) -> Test | None:
    """Places among all nodes are numbers that nodes have, which are found among those of all queries.

    before  (//a)[3]   (//a)[last()]
    after   //a[place in //a = 3]
    """
    if not isinstance(formula, NodeFilter):
        return None
    *before, last = formula.conditions
    nodes = NodeFilter(formula.nodes, tuple(before)) if before else formula.nodes
    match last:
        case Applied("last"):
            return Derived(Applied(PLACES[1], (nodes,)), Value("=", 0.0))
        case Fixed(float(value)):
            return Derived(Applied(PLACES[0], (nodes,)), Value("=", value))
        case Related(operator, Applied("position"), Fixed(float(value)), "number"):
            return Derived(Applied(PLACES[0], (nodes,)), Value(operator, value))
        case _:
            return None


def _goes_down(formula: Formula) -> bool:
    """Whether all nodes that a formula passes by lie above those that it selects."""
    match formula:
        case NodeFilter(nodes):
            return _goes_down(nodes)
        case Walk("document", moves):
            return all(move.axis in DOWNWARD for move in moves)
        case _:
            return False


def _ends(formula: Formula) -> list[Step]:
    """Steps that lead to all nodes that a formula could select."""
    match formula:
        case Walk(start, moves):
            return _of_moves(start, moves)
        case NodeFilter(nodes):
            return _ends(nodes)
        case NodePath(_, inner):
            return _ends(inner)
        case NodeSet("union", parts):
            return [step for part in parts for step in _ends(part)]
        case NodeSet(_, parts):
            return _ends(parts[0])
        case _:
            return _ALL


def _of_moves(start: Formula | str, moves: tuple[Move, ...]) -> list[Step]:
    if not moves:
        return _ends(start) if not isinstance(start, str) else _ALL if start == "here" else []
    *before, last = moves
    if last.axis == "attribute":
        label: Label = "*" if last.kind is None else last.label
        return [Step(label, True, Kind.ATTRIBUTE)]
    if last.kind is Kind.TEXT:
        return [_TEXTS]
    if last.kind is Kind.ELEMENT:
        return [Step(last.label, True)]
    if last.axis in ("parent", "ancestor"):
        return [_ELEMENTS]
    if last.axis == "self":
        return _of_moves(start, tuple(before))
    if "self" in last.axis:  # it may stay at an attribute
        return [_ELEMENTS, *([_TEXTS] if last.axis in DOWNWARD else []), *_of_moves(start, tuple(before))]
    return [_ELEMENTS, _TEXTS]
