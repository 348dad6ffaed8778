"""The text of an operation in, its nodes out: by precedence, from `or` to unary minus."""

from __future__ import annotations

from typing import Literal

from weft.languages.xquery.primaries import PrimaryParser
from weft.plans.expressions import (
    Calculation,
    Cast,
    ComparedItems,
    Connected,
    ConstantValue,
    InTurn,
    Negative,
    NodeSets,
    QueryExpression,
    Typed,
)

_GENERAL = ("=", "!=", "<", "<=", ">", ">=")
_VALUE = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NODE = ("is", "<<", ">>")
_SETS: dict[str, Literal["union", "intersect", "except"]] = {
    "|": "union",
    "union": "union",
    "intersect": "intersect",
    "except": "except",
}
#: Operators from those that bind least on.
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("or",),
    ("and",),
    (*_GENERAL, *_VALUE, *_NODE),
    ("||",),
    ("to",),
    ("+", "-"),
    ("*", "div", "idiv", "mod"),
    ("|", "union"),
    ("intersect", "except"),
)
_LEVEL_OF = {
    ("name" if each.isalpha() else "sign", each): level for level, row in enumerate(_LEVELS, 1) for each in row
}
_ALONE = (3, 5)  # of these operators one does not follow another


class OperatorParser(PrimaryParser):
    """Reads operations."""

    def expression(self) -> QueryExpression:
        """Expressions with commas between them."""
        parts = [self.single()]
        while self.accept(","):
            parts.append(self.single())
        return parts[0] if len(parts) == 1 else InTurn(tuple(parts))

    def operation(self, least: int = 1) -> QueryExpression:
        """Operations that bind at least so close; one function for all of them, so that nesting takes few calls."""
        left, most = self._typed(), len(_LEVELS)
        while least <= (level := self._level()) <= most:
            operator = self.advance()
            right = self.operation(level + 1)
            left = self._combined(level, operator, left, right)
            most = level - 1 if level in _ALONE else level
        return left

    def _level(self) -> int:
        """How close the operator binds that is next; 0 where there is none."""
        if self.kind not in ("name", "sign"):
            return 0
        return _LEVEL_OF.get((self.kind, self.text), 0)

    def _combined(self, level: int, operator: str, left: QueryExpression, right: QueryExpression) -> QueryExpression:
        match level:
            case 1 | 2:
                word: Literal["and", "or"] = "or" if level == 1 else "and"
                is_same = isinstance(left, Connected) and left.operator == word
                before = left.parts if isinstance(left, Connected) and is_same else (left,)
                return Connected(word, (*before, right))
            case 3:
                if operator in _VALUE:
                    return ComparedItems("value", _VALUE[operator], left, right)
                return ComparedItems("node" if operator in _NODE else "general", operator, left, right)
            case 8 | 9:
                self._check_row(left)
                return NodeSets(_SETS[operator], left, right)
            case _:
                self._check_row(left)
                return Calculation(operator, left, right)

    def _check_row(self, left: QueryExpression) -> None:
        """What goes on from the left nests in what runs it."""
        depth, most = 0, 4 * self.most_nested
        while isinstance(left, Calculation | NodeSets) and depth <= most:
            depth, left = depth + 1, left.left
        if depth > most:
            self.refuse(f"more than {most} operations in a row", self.at)

    def _typed(self) -> QueryExpression:
        """`instance of`, `treat as`, `castable as`, `cast as`."""
        found = self._arrow()
        if self.is_word("cast") and self.following == "as":
            self.advance()
            self.advance()
            found = Cast(found, *self.single_type())
        if self.is_word("castable") and self.following == "as":
            self.advance()
            self.advance()
            found = Cast(found, *self.single_type(), asks=True)
        if self.is_word("treat") and self.following == "as":
            self.advance()
            self.advance()
            found = Typed(found, self.sequence_type(), "treat")
        if self.is_word("instance") and self.following == "of":
            self.advance()
            self.advance()
            found = Typed(found, self.sequence_type(), "instance")
        return found

    def _arrow(self) -> QueryExpression:
        """`… => upper-case()`."""
        found = self._unary()
        while self.accept("=>"):
            if self.kind != "name" or self.following != "(":
                self.refuse("anything but a function's name behind =>", self.at)
            at, name = self.at, self.function_name(self.text, self.at)
            self.advance()
            self.expect("(")
            arguments = [found]
            while self.text != ")":
                arguments.append(self.single())
                if not self.accept(","):
                    break
            self.expect(")")
            found = self.called(name, arguments, at)
        return found

    def _unary(self) -> QueryExpression:
        signs = 0
        is_signed = False
        while self.kind == "sign" and self.text in ("-", "+"):
            signs += self.advance() == "-"
            is_signed = True
        found = self.mapped()
        if is_signed and not signs % 2:
            return Calculation("+", ConstantValue(0), found)
        return Negative(found) if signs % 2 else found
