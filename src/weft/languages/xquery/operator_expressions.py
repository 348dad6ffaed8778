"""The text of an operation in, its nodes out: by precedence, from `or` to unary minus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from weft.languages.xquery.primaries import PrimaryParser
from weft.plans.expressions import (
    Calculation,
    Cast,
    Compared,
    Connected,
    Expression,
    InTurn,
    Negative,
    NodeSets,
    Typed,
    Written,
)

_GENERAL = ("=", "!=", "<", "<=", ">", ">=")
_VALUE = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NODE = ("is", "<<", ">>")


class OperatorParser(PrimaryParser):
    """Reads operations."""

    def expression(self) -> Expression:
        """Expressions with commas between them."""
        parts = [self.single()]
        while self.accept(","):
            parts.append(self.single())
        return parts[0] if len(parts) == 1 else InTurn(tuple(parts))

    def disjunction(self) -> Expression:
        """`or`, and all that binds closer."""
        return self._connected("or", lambda: self._connected("and", self._comparison))

    def _connected(self, word: Literal["and", "or"], inner: Callable[[], Expression]) -> Expression:
        parts = [inner()]
        while self.accept_word(word):
            parts.append(inner())
        return parts[0] if len(parts) == 1 else Connected(word, tuple(parts))

    def _comparison(self) -> Expression:
        left = self._concatenation()
        if self.kind == "sign" and self.text in _GENERAL:
            return Compared("general", self.advance(), left, self._concatenation())
        if self.is_word(*_VALUE):
            return Compared("value", _VALUE[self.advance()], left, self._concatenation())
        if self.text in _NODE and self.kind in ("sign", "name"):
            return Compared("node", self.advance(), left, self._concatenation())
        return left

    def _concatenation(self) -> Expression:
        left = self._range()
        while self.accept("||"):
            left = self._calculated("||", left, self._range())
        return left

    def _range(self) -> Expression:
        left = self._sum()
        return Calculation("to", left, self._sum()) if self.accept_word("to") else left

    def _sum(self) -> Expression:
        left = self._product()
        while self.kind == "sign" and self.text in ("+", "-"):
            left = self._calculated(self.advance(), left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._union()
        while (self.kind == "sign" and self.text == "*") or self.is_word("div", "idiv", "mod"):
            left = self._calculated(self.advance(), left, self._union())
        return left

    _chained = 0

    def _calculated(self, operator: str, left: Expression, right: Expression) -> Expression:
        """What goes on from the left nests in what runs it."""
        self._chained += 1
        if self._chained > 20 * self.most_nested:
            self.refuse("so many operations", self.at)
        depth, inner = 0, left
        while isinstance(inner, Calculation) and depth <= 4 * self.most_nested:
            depth, inner = depth + 1, inner.left
        if depth > 4 * self.most_nested:
            self.refuse(f"more than {4 * self.most_nested} operations in a row", self.at)
        return Calculation(operator, left, right)

    def _union(self) -> Expression:
        left = self._intersection()
        while self.accept("|") or self.accept_word("union"):
            left = NodeSets("union", left, self._intersection())
        return left

    def _intersection(self) -> Expression:
        left = self._typed()
        while self.is_word("intersect", "except"):
            operator = cast(Literal["intersect", "except"], self.advance())
            left = NodeSets(operator, left, self._typed())
        return left

    def _typed(self) -> Expression:
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

    def _arrow(self) -> Expression:
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

    def _unary(self) -> Expression:
        signs = 0
        is_signed = False
        while self.kind == "sign" and self.text in ("-", "+"):
            signs += self.advance() == "-"
            is_signed = True
        found = self.mapped()
        if is_signed and not signs % 2:
            return Calculation("+", Written(0), found)
        return Negative(found) if signs % 2 else found
