"""The text of a compared value in, a term out: a variable, a path from one, conditions on it, and functions of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast, get_args

from weft.languages.xpath.names import Names
from weft.languages.xscl.block import BlockParser
from weft.plans.flwr import Variable
from weft.plans.plan import Link, conjunction
from weft.plans.xscl import Block, Derivation, DerivationName, Term

_FUNCTIONS: tuple[str, ...] = get_args(DerivationName)
_CALL = re.compile(r"\s*\(")  # behind the name of a function


class TermParser(BlockParser):
    """Reads what stands at both sides of a comparison; blocks are there already, and get variables by it."""

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self._blocks: list[Block] = []
        self._terms: dict[str, Term] = {}  # the variables of the blocks by name

    def term(self) -> Term:
        """A variable, or a path from one, perhaps in a function: value-join normal form has a variable for that too."""
        if self.kind == "name" and self.text in _FUNCTIONS and _CALL.match(self.query, self.at + len(self.text)):
            return self._derived()
        self.accept("$")
        if self.kind != "name":
            self.unexpected("a variable")
        at = self.at
        name = self.variable_name(at)
        if name not in self._terms:
            called = _CALL.match(self.query, at + len(name))
            if called:
                self.refuse(f"{name}() of a compared variable", at, f"there are {', '.join(_FUNCTIONS)}")
            self.fail(f"expected a variable of the blocks, found {name}", at)
        return self._term_below(self._terms[name])

    def _derived(self) -> Term:
        """A function of a variable's value."""
        name = cast(DerivationName, self.advance())
        self.enter()
        self.expect("(")
        term = self.term()
        arguments: list[float] = []
        while name == "substring" and len(arguments) < 2 and self.accept(","):
            arguments.append(self._constant())
        if name == "substring" and not arguments:
            self.unexpected("a comma and a position")
        self.leave()
        self.expect(")")
        if name == "string" and not is_number(term):
            return term
        return replace(term, derived=(*term.derived, Derivation(name, tuple(arguments))))

    def _constant(self) -> float:
        is_negative = self.accept("-")
        if self.kind != "number":
            self.unexpected("a number")
        value = float(self.advance())
        return -value if is_negative else value

    def _term_below(self, term: Term) -> Term:
        if self.kind == "sign" and self.text == "[":
            self._add_test(term)
        if self.kind != "sign" or self.text not in ("/", "//"):
            return term
        at = self.at
        links = self.steps(self.advance() == "//")
        if not links or not links[0].path:
            self.refuse("a step that stays at the variable", at)
        block = self._blocks[term.block]
        variables = (*block.variables, Variable("", term.variable, links))  # always a new one: each predicate may hold
        self._blocks[term.block] = Block(block.stream, variables, block.output)  # for another node on the path
        return Term(term.block, len(block.variables))

    def _add_test(self, term: Term) -> None:
        """Predicates behind a variable ask of it what they would ask in its block."""
        block = self._blocks[term.block]
        variable = block.variables[term.variable]
        links = list(variable.links)
        tests = self.predicates(rankable=False)
        if self.asked_above is not None:
            self.refuse("a step that goes up, or several ways, behind a variable", self.at)
        first = () if links[-1].test is None else (links[-1].test,)
        links[-1] = Link(links[-1].path, conjunction([*first, *tests]))
        variables = list(block.variables)
        variables[term.variable] = replace(variable, links=tuple(links))
        self._blocks[term.block] = Block(block.stream, tuple(variables), block.output)


def is_number(term: Term) -> bool:
    """Whether a value is made a number."""
    return bool(term.derived) and term.derived[-1].name == "number"


def as_number(term: Term) -> Term:
    """The same value as a number."""
    return term if is_number(term) else replace(term, derived=(*term.derived, Derivation("number")))
