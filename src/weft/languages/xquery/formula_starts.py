"""What a formula in a where clause may start from: its variables."""

from __future__ import annotations

from weft.languages.xpath.names import Names
from weft.languages.xpath.operand import Operand
from weft.languages.xpath.trails import Trail
from weft.languages.xquery.values import ValueParser


class FormulaStarts(ValueParser):
    """Reads what formulas start from."""

    _nested_in_predicate = False

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self._constants: dict[str, Operand] = {}  # what let gives a name to

    def formula_variable(self) -> Operand:
        """A variable alone."""
        if self._quantified is not None:
            return super().formula_variable()
        at, name = self.at, self._variable_name()
        if name in self._constants:
            return self._constants[name]
        slot = self._slots.get(name)
        if slot is None:
            self.fail(f"expected a variable that is bound, found ${name}", at)
        if self._nested_in_predicate:
            self.refuse("a variable in a predicate", at, "put the condition in where")
        return Operand("path", paths=(Trail(slot.links),), scope=slot.variable)

    def check_formula_start(self, in_brackets: bool) -> None:
        """In where, paths and functions without arguments have no node to start from."""
        if not in_brackets and not self._nested_in_predicate and self._quantified is None:
            self.refuse("a path that does not start at a variable", self.at)
        super().check_formula_start(in_brackets)
