"""A function and its arguments in, the operand that it makes out."""

from __future__ import annotations

from functools import partial
from typing import NoReturn

from weft.documents.kind import Kind
from weft.languages.expressions import expression_name
from weft.languages.xpath.operand import Item, Operand, exists
from weft.languages.xpath.operands import Operands
from weft.languages.xpath.predicates import over, string_function
from weft.languages.xpath.trails import Trail
from weft.plans.formulas import SIGNATURES
from weft.plans.instants import INSTANT_TYPES, instant
from weft.plans.numbers import double, number
from weft.plans.plan import Always, Operator, Step, Test, negation
from weft.plans.regex import MOST_IN_QUERY, instructions, translate

#: The functions that take a path and a string constant.
STRING_FUNCTIONS: tuple[Operator, ...] = ("contains", "starts-with", "ends-with", "matches")
#: The functions without arguments.
CONSTANT_FUNCTIONS = {
    "true": Operand("test", test=Always(True)),
    "false": Operand("test", test=Always(False)),
    "position": Operand("position"),
    "last": Operand("last"),
}
#: The functions that make something else of the first node of a path, or of a string.
ITEM_FUNCTIONS: dict[str, Item] = {
    "string": "string",
    "number": "number",
    **{f"xs:{each}": each for each in INSTANT_TYPES},
}
#: What stands in the functions that make instants.
_INSTANTS = {
    "xs:date": "a date like 2026-01-31, with a time zone or without",
    "xs:dateTime": "a date and time like 2026-01-31T10:00:00Z",
    "xs:time": "a time like 10:00:00",
}
#: The functions that read the name of an element.
NAME_FUNCTIONS = ("local-name", "namespace-uri")
_TRUTHS = ("not", "boolean")
_EXISTENCE = ("exists", "empty")
FUNCTIONS = frozenset(
    {*STRING_FUNCTIONS, *CONSTANT_FUNCTIONS, *ITEM_FUNCTIONS, *_TRUTHS, *_EXISTENCE, *NAME_FUNCTIONS, "count"}
)


class Functions(Operands):
    """Reads functions."""

    def __init__(self, query: str, language: str) -> None:
        super().__init__(query, language)
        self._instructions = 0  # of all regular expressions so far
        self.next_step: Step | None = None  # the step whose predicates come next, if all their nodes are of one kind
        self.here: Step | None = None  # the step in whose predicate we are

    def function_name(self) -> str:
        """The name of the function that is next, with the prefix that it usually has."""
        return self.text

    def function(self) -> Operand:
        """A function with its arguments."""
        at, name = self.at, self.function_name()
        if name not in FUNCTIONS:
            self.refuse_function()
        self.advance()
        self.expect("(")
        self.enter()
        operand = self._apply(name, at)
        self.leave()
        self.expect(")")
        return operand

    def refuse_function(self) -> NoReturn:
        """There is no such function."""
        name = expression_name(self.text, self.following)
        if name is not None:
            self.refuse(name, self.at)
        if self.text in SIGNATURES:
            self.refuse(f"the function {self.text}() where only a path or a constant may stand", self.at)
        known = ", ".join(sorted({*FUNCTIONS, *SIGNATURES}))
        self.refuse(f"the function {self.text}()", self.at, f"there are {known} in predicates")

    def _apply(self, name: str, at: int) -> Operand:
        if name in CONSTANT_FUNCTIONS:
            return CONSTANT_FUNCTIONS[name]
        if name in NAME_FUNCTIONS:
            if self.here is None or self.here.kind is not Kind.ELEMENT:
                self.refuse(f"{name}() other than of the elements of a step", at)
            self.accept(".")
            return Operand(name)
        if name in ITEM_FUNCTIONS:
            return self._of_first(name, at)
        if name in STRING_FUNCTIONS:
            return Operand("test", test=self._string_function(name, at))
        if name == "count":
            return self._only_path(name, at)._replace(kind="count")
        if name in _EXISTENCE:
            found = self.path_operand()
            test = self.scoped(exists(found.paths), found)
        else:
            test = self.condition()
        return Operand("test", test=negation(test) if name in ("not", "empty") else test)

    def _only_path(self, name: str, at: int) -> Operand:
        if self.kind in ("string", "number"):
            self.refuse(f"a constant in {name}()", at)
        operand = self.path_operand()
        if len(operand.paths) > 1:
            self.refuse(f"a union in {name}()", at)
        if any(axis == "ancestor" for trail in operand.paths for _, axis in trail.ups):
            self.refuse(f"ancestors in {name}()", at)
        return operand

    def _string_function(self, name: Operator, at: int) -> Test:
        subject = self._subject(name, at)
        self.expect(",")
        if self.kind != "string":
            self.refuse("anything but a string constant here", self.at)
        constant_at, constant = self.at, str(self.operand().constant)
        try:
            if name == "matches":
                constant = translate(constant)
                self._instructions += instructions(constant)
        except ValueError as error:
            self.refuse(f"this regular expression ({error})", constant_at, is_final=True)
        if self._instructions > MOST_IN_QUERY:
            instead = "split the query, or repeat less in them"
            self.refuse("so much in regular expressions", constant_at, instead, is_final=True)
        return self.scoped(over(subject.paths[0], partial(string_function, name, constant)), subject)

    def _subject(self, name: str, at: int) -> Operand:
        """The path whose first node a function reads; string() around it changes nothing."""
        if self.kind == "name" and self.text == "string" and self.following == "(":
            operand = self.function()
            if operand.kind != "item":
                self.refuse(f"a constant in {name}()", at)
            return operand
        return self._only_path(name, at)

    # -- what is made of the first node

    def _of_first(self, name: str, at: int) -> Operand:
        """`string(b)` and its like: of a path, of the context node, or of a constant."""
        if self.kind == "string" and self.following == ")":
            return self._cast(name)
        if self.kind == "number" and name in ("string", "number"):
            constant = float(self.advance())
            if name == "string":
                self.refuse("a number in string()", at, "write the text that it has")
            return Operand("number", constant=constant)
        if self.text == ")" and name in ("string", "number"):
            return self.context_operand(at)._replace(kind="item", item=ITEM_FUNCTIONS[name])
        if self.kind not in ("name", "sign"):
            self.refuse(f"a constant like this in {name}()", self.at)
        return self._subject(name, at)._replace(kind="item", item=ITEM_FUNCTIONS[name])

    def context_operand(self, at: int) -> Operand:  # noqa: ARG002 - for those who build on this
        """The context node, which functions without an argument read."""
        return Operand("path", paths=(Trail(),))

    def _cast(self, name: str) -> Operand:
        constant_at, text = self.at, self.string()
        item = ITEM_FUNCTIONS[name]
        if item == "string":
            return Operand("string", constant=text)
        if item == "number":
            return Operand("number", constant=double(text) if self.is_xquery else number(text))
        found = instant(text)
        if found is None or found.type != item:
            self.fail(f"expected {_INSTANTS[name]}, found {text!r}", constant_at)
        return Operand("instant", constant=found)
