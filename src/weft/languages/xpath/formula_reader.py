"""The tokens of an expression in, the formula that it is out: all of XPath 1.0, and what XPath 2 has for conditions.

It reads what the other readers of predicates and paths leave to it; the place of everything is theirs too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.documents.kind import Kind
from weft.languages.xpath.conversions import applied, as_truth
from weft.languages.xpath.formula_operators import FormulaOperators
from weft.languages.xpath.formula_paths import steps_of_links, with_moves
from weft.plans.formulas import (
    AXES,
    SIGNATURES,
    Applied,
    Fixed,
    Formula,
    FormulaAxis,
    Move,
    NodeFilter,
    NodePath,
    NodeQuantifier,
    NodeSet,
    VariableNode,
    Walk,
    type_of,
)

if TYPE_CHECKING:
    from weft.languages.xpath.turns import Turns

_NODE_TESTS = ("node", "text")
_OTHER_NODES = ("comment", "processing-instruction", "element", "attribute", "document-node")
_ANY = Move("descendant-or-self", None, "*")


class FormulaReader(FormulaOperators):
    """A recursive descent over the tokens of one expression, which a parser stands before."""

    def __init__(self, parser: Turns) -> None:
        super().__init__(parser)
        self._variables: list[str] = []
        self.scopes: set[int] = set()  # the variables of FLWR that paths start from
        self._depth = 0  # of brackets that are about other nodes than those that are asked

    # -- sets of nodes

    def path_whole(self) -> Formula:
        """One path, from the document."""
        parser = self._parser
        if parser.kind == "sign" and parser.text in ("/", "//"):
            return self._from_document()
        if self._starts_value():
            return self._path()
        return self._walked(Walk("document"))

    def union(self) -> Formula:
        """Nodes with `|` between them, or one value."""
        at, parts = self._parser.at, [self._intersection()]
        while self._parser.accept("|") or self._parser.accept_word("union"):
            parts.append(self._intersection())
        if len(parts) > 1:
            self._check_nodes(parts, "|", at)
            return NodeSet("union", tuple(parts))
        return parts[0]

    def _intersection(self) -> Formula:
        at, left, depth = self._parser.at, self._path(), 0
        while self._parser.kind == "name" and self._parser.text in ("intersect", "except"):
            depth += 1
            self._parser.check_nesting(self._parser.nested + depth, self._parser.at)
            operator = self._parser.advance()
            right = self._path()
            self._check_nodes([left, right], operator, at)
            left = NodeSet("intersect" if operator == "intersect" else "except", (left, right))
        return left

    def _check_nodes(self, parts: list[Formula], operator: str, at: int) -> None:
        if any(type_of(part) != "nodes" for part in parts):
            self._parser.refuse(f"{operator} between anything but paths", at)

    def _path(self) -> Formula:
        parser = self._parser
        if parser.kind == "sign" and parser.text in ("/", "//"):
            return self._from_document()
        if not self._starts_value():
            self._check_start()
            return self._walked(Walk("here"))
        at = parser.at
        found = self._filtered(self._value(), at)
        if parser.kind != "sign" or parser.text not in ("/", "//"):
            return found
        if type_of(found) != "nodes":
            parser.refuse("a path behind anything but nodes", at)
        return self._walked(found, parser.advance() == "//")

    def _from_document(self) -> Formula:
        parser = self._parser
        is_deep = parser.advance() == "//"
        if not is_deep and not parser.starts_step():
            return Walk("document")
        return self._walked(Walk("document"), is_deep)

    def _check_start(self) -> None:
        """Outside of brackets, a path in the condition of a variable starts at the variable."""
        self._parser.check_formula_start(bool(self._depth))

    def _filtered(self, nodes: Formula, at: int) -> Formula:
        if self._parser.text != "[" or self._parser.kind != "sign":
            return nodes
        if type_of(nodes) != "nodes":
            self._parser.refuse("a predicate behind anything but nodes", at)
        return NodeFilter(nodes, self._conditions())

    def _walked(self, start: Formula, is_deep: bool = False) -> Formula:
        """Steps with `/` and `//` between them, from nodes; one may be an expression in parentheses."""
        parser, found = self._parser, start
        while True:
            if is_deep:
                found = with_moves(found, [_ANY])
            if parser.text == "(" and parser.kind == "sign":
                at = parser.at
                self._depth += 1
                inner = self._filtered(self._value(), at)
                self._depth -= 1
                self._check_nodes([inner], "/", at)
                found = NodePath(found, inner)
            else:
                found = with_moves(found, [self._move()])
            if parser.kind != "sign" or parser.text not in ("/", "//"):
                return found
            is_deep = parser.advance() == "//"

    def _move(self) -> Move:
        parser = self._parser
        if parser.accept("."):
            return Move("self", None, "*", self._conditions())
        if parser.accept(".."):
            return Move("parent", None, "*", self._conditions())
        axis: FormulaAxis = "child"
        if parser.accept("@"):
            axis = "attribute"
        elif parser.kind == "name" and parser.following == "::":
            at, name = parser.at, parser.advance()
            if name not in AXES:
                parser.refuse(f"the axis {name}::", at)
            axis = name
            parser.expect("::")
        if parser.kind == "name" and parser.following == "(":
            if parser.text in _OTHER_NODES:
                parser.refuse(f"{parser.text}()", parser.at)
            if parser.text not in _NODE_TESTS:
                parser.refuse_function()
            kind = None if parser.advance() == "node" else Kind.TEXT
            parser.expect("(")
            parser.expect(")")
            return Move(axis, kind, "*", self._conditions())
        is_attribute = axis == "attribute"
        label = parser.label(is_attribute)
        return Move(axis, Kind.ATTRIBUTE if is_attribute else Kind.ELEMENT, label, self._conditions())

    def _conditions(self) -> tuple[Formula, ...]:
        parser, found = self._parser, list[Formula]()
        while parser.text == "[" and parser.kind == "sign":
            parser.enter()
            parser.advance()
            self._depth += 1
            condition = self.whole()
            self._depth -= 1
            found.append(condition if type_of(condition) == "number" else as_truth(condition))
            parser.expect("]")
            parser.leave()
        return tuple(found)

    # -- values

    def _starts_value(self) -> bool:
        parser = self._parser
        if parser.kind in ("string", "number") or parser.text in ("(", "$"):
            return True
        if parser.kind != "name":
            return False
        following = parser.following
        if following == "(":
            return parser.text not in (*_NODE_TESTS, *_OTHER_NODES)
        return following == "$" and parser.text in ("some", "every")

    def _value(self) -> Formula:
        parser = self._parser
        if parser.kind == "string":
            return Fixed(parser.string())
        if parser.kind == "number":
            return Fixed(float(parser.advance()))
        if parser.text == "$":
            return self._variable()
        if parser.accept("("):
            parser.enter()
            found = self.whole()
            if parser.text == ",":
                parser.refuse("a list of anything but constants", parser.at)
            parser.leave()
            parser.expect(")")
            return found
        if parser.text in ("some", "every"):
            return self._quantified(parser.advance() == "every")
        if parser.text == "if":
            return self._chosen()
        return self._function()

    def _function(self) -> Formula:
        parser = self._parser
        at, name = parser.at, parser.function_name()
        signature = SIGNATURES.get(name)
        if signature is None or (name in ("position", "last") and not self._depth):
            if signature is not None:
                parser.refuse(f"{name}() here", at)
            parser.refuse_function()
        parser.advance()
        parser.expect("(")
        parser.enter()
        arguments: list[Formula] = []
        while parser.text != ")" or arguments:
            arguments.append(self.whole())
            if not parser.accept(","):
                break
        parser.leave()
        most = len(signature.parameters)
        if len(arguments) < signature.least or (len(arguments) > most and not signature.repeats):
            parser.fail(f"expected {_number(signature.least, most)} in {name}(), found {len(arguments)}", at)
        parser.expect(")")
        if not arguments and most and not signature.least and not self._depth:
            parser.context_operand(at)
            self._check_start()
        found = applied(name, arguments, parser.is_xquery)
        if found is None:
            parser.fail(f"expected a path in {name}(), found something else", at)
        return found

    def _variable(self) -> Formula:
        """A variable of some or every that is read here; all others are told as the paths from them."""
        parser = self._parser
        if parser.following in self._variables:
            parser.advance()
            return VariableNode(parser.advance())
        at, operand = parser.at, parser.formula_variable()
        if operand.is_constant:
            if isinstance(operand.constant, str | float) and operand.kind in ("string", "number"):
                return Fixed(operand.constant)
            parser.refuse("a variable like this here", at)
        if self._depth:
            parser.refuse("a variable in a predicate of a path like this", at, "write some … satisfies")
        if operand.scope is not None and operand.scope >= 0:
            self.scopes.add(operand.scope)
        moves = steps_of_links(operand.paths[0].links) if len(operand.paths) == 1 and not operand.paths[0].ups else None
        if moves is None:
            parser.refuse("a path with predicates from a variable here", at, "bind what it leads to first")
        return with_moves(Walk("document" if (operand.scope or 0) < 0 else "here"), moves)

    def _quantified(self, is_every: bool) -> Formula:
        parser = self._parser
        parser.expect("$")
        name = parser.advance()
        if not parser.accept_word("in"):
            parser.unexpected("in")
        at, source = parser.at, self.union()
        if type_of(source) != "nodes":
            parser.refuse("some or every over anything but a path", at)
        if not parser.accept_word("satisfies"):
            parser.unexpected("satisfies")
        self._variables.append(name)
        parser.enter()
        condition = as_truth(self.equality())
        parser.leave()
        self._variables.pop()
        return NodeQuantifier(is_every, name, source, condition)

    def _chosen(self) -> Formula:
        parser = self._parser
        parser.advance()
        parser.expect("(")
        parser.enter()
        condition = as_truth(self.whole())
        parser.leave()
        parser.expect(")")
        if not parser.accept_word("then"):
            parser.unexpected("then")
        then = as_truth(self.equality())
        if not parser.accept_word("else"):
            parser.unexpected("else")
        return Applied("if", (condition, then, as_truth(self.equality())))


def _number(least: int, most: int) -> str:
    """How many arguments there may be."""
    if least == most:
        return f"{least} argument{'' if least == 1 else 's'}"
    return f"{least} to {most} arguments"
