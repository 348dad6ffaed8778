"""XSCL text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any, cast

from weft.languages.reader import MOST_NESTED, OnWarning
from weft.languages.xpath.names import Names
from weft.languages.xscl.templates import TextTemplates
from weft.languages.xscl.terms import TermParser, as_number, is_number
from weft.plans.comparisons import FLIPPED
from weft.plans.flwr import Element, Enclosed, Slot
from weft.plans.plan import Comparison
from weft.plans.xscl import Block, Join, JoinOperator, Predicate, Term, Window, Xscl

_LANGUAGE = "XSCL"
_TEMPLATES = TextTemplates()
_UNITS = {  # in nanoseconds
    "millisecond": 1_000_000,
    "second": 1_000_000_000,
    "minute": 60_000_000_000,
    "hour": 3_600_000_000_000,
    "day": 86_400_000_000_000,
    "week": 604_800_000_000_000,
}
_LONGEST = 2**62  # nanoseconds, 146 years; or documents


def parse(
    query: str,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    most_nested: int = MOST_NESTED,
    on_warning: OnWarning | None = None,
) -> Xscl:
    """The plan of an XSCL query.

    >>> plan = parse("S//a->x FOLLOWED BY{x = y, 5 minutes} S//b->y")
    >>> plan.joins[0].operator, plan.joins[0].window.nanoseconds
    ('FOLLOWED BY', 300000000000)
    """

    def read() -> tuple[Xscl, bool]:
        warned: list[object] = []

        def warn(*arguments: Any) -> None:
            warned.append(arguments)
            if on_warning is not None:
                on_warning(*arguments)

        parser = XsclParser(query, Names(namespaces or {}, ignore_namespaces), _LANGUAGE)
        return parser.within(most_nested, warn).query_plan(), not warned

    context = tuple(sorted((namespaces or {}).items())), ignore_namespaces, most_nested
    return _TEMPLATES.plan(query, context, read)


class XsclParser(TermParser):
    """`[SELECT * | element FROM] block { operator{predicates, window} block } [PUBLISH name]`."""

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self.seek(0)

    def query_plan(self) -> Xscl:
        """The whole query. The constructor stands before the variables that it uses, so it is read again behind."""
        select_at = self._skip_select() if self.accept_word("SELECT") else None
        joins = self._joins()
        publish = self._publish()
        if self.kind != "end":
            self.unexpected("JOIN, FOLLOWED BY, NOT FOLLOWED BY, PUBLISH or the end of the query")
        is_absence = bool(joins) and joins[-1].operator == "NOT FOLLOWED BY"
        selectable = self._blocks[:-1] if is_absence else self._blocks  # of what is absent there is nothing to show
        select = None if select_at is None else self._select(select_at, selectable)
        return Xscl(tuple(self._blocks), tuple(joins), select, publish)

    # -- clauses

    def _skip_select(self) -> int | None:
        """Go behind the SELECT clause; where its constructor starts comes back, for `*` nothing."""
        start = None
        if not self.accept("*"):
            if self.text != "<":
                self.unexpected("* or an element")
            start = self.at
            self._is_known = False
            self.element()
            self._is_known = True
        if not self.accept_word("FROM"):
            self.unexpected("FROM")
        return start

    def _select(self, start: int, blocks: list[Block]) -> Element:
        self._variables = [variable for block in blocks for variable in block.variables]
        self._slots = {variable.name: Slot(at, ()) for at, variable in enumerate(self._variables) if variable.name}
        self.seek(start)
        return self.element()

    # -- the braces of the constructor

    _is_known = True  # whether the variables have been read

    def enclosed(self) -> Enclosed:
        """What stands in braces: values."""
        if self.text == "}":
            self.unexpected("something in the braces")
        return self._sequence()

    def check(self, element: Element, at: int) -> None:
        """Attributes come first in an element, and each once."""
        if self._is_known:
            super().check(element, at)

    def _variable_name(self) -> str:
        self.expect("$")
        return self.variable_name(self.at)

    def _slot(self) -> Slot:
        if self._is_known:
            return super()._slot()
        self._variable_name()
        if self.text in ("/", "//"):
            self.steps(self.advance() == "//")
        return Slot(0, ())

    def _publish(self) -> str | None:
        if not self.accept_word("PUBLISH"):
            return None
        if self.kind != "name":
            self.unexpected("the name of a stream")
        return self.advance()

    # -- blocks and joins

    def _joins(self) -> list[Join]:
        """Operands with joins between them. Blocks and joins are told in the order of the text."""
        start = len(self._blocks)
        joins, before = self._operand()
        while (operator := self._operator()) is not None:
            if joins and joins[-1].operator == "NOT FOLLOWED BY":
                self.refuse("a join behind NOT FOLLOWED BY", self.at, "ask for the absence last")
            join, more, behind = self._join(operator, start, before)
            joins += [join, *more]
            before = behind
        return joins

    def _operand(self) -> tuple[list[Join], int]:
        """A block, or joins in parentheses; the joins, and the first block of what a window behind it looks at."""
        first, at = len(self._blocks), self.at
        if not self.accept("("):
            self._add_block()
            return [], first
        self.enter()
        joins = self._joins()
        self.leave()
        self.expect(")")
        if joins and joins[-1].operator == "NOT FOLLOWED BY":
            self.refuse("NOT FOLLOWED BY in parentheses", at, "publish it, and join what is published")
        if any(join.window.documents is not None for join in joins):
            self.refuse("a window in documents in parentheses", at, "give it a time")
        return joins, first

    def _add_block(self) -> None:
        at, block = self.at, self.block()
        for place, variable in enumerate(block.variables):
            if variable.name in self._terms:
                self.fail(f"expected a new name for a variable, found {variable.name} again", at)
            if variable.name:
                self._terms[variable.name] = Term(len(self._blocks), place)
        self._blocks.append(block)

    def _operator(self) -> JoinOperator | None:
        if self.accept_word("JOIN"):
            return "JOIN"
        is_not = self.accept_word("NOT")
        if not self.accept_word("FOLLOWED"):
            if is_not:
                self.unexpected("FOLLOWED BY")
            return None
        if not self.accept_word("BY"):
            self.unexpected("BY")
        return "NOT FOLLOWED BY" if is_not else "FOLLOWED BY"

    def _join(self, operator: JoinOperator, start: int, before: int) -> tuple[Join, list[Join], int]:
        """A join, those inside of what stands behind it, and the first block of that.

        The predicates speak of blocks that come behind them, so they are read again when these are known. `start` is
        the first block that they may speak of, `before` the first one that the window looks at.
        """
        at = self.at
        self.expect("{")
        self.seek(self._window_start())
        window = self._window()
        self.expect("}")
        place = len(self._blocks)
        more, behind = self._operand()
        last = len(self._blocks) - 1
        if last > place and operator == "NOT FOLLOWED BY":
            self.refuse("NOT FOLLOWED BY something in parentheses", at, "publish that, and ask for its absence")
        span = None if before == place - 1 and last == place else (before, last)
        if span is not None and window.documents is not None:
            self.refuse("a window in documents beside parentheses", at, "give it a time")
        end = self.at
        self.seek(at + 1)
        predicates = [self._predicate(range(start, place), range(place, last + 1))]
        while self.accept_word("AND") or self.accept_word("and"):
            predicates.append(self._predicate(range(start, place), range(place, last + 1)))
        if self.text != ",":
            self.unexpected("AND, or a comma and a window")
        if not any(predicate.operator == "=" for predicate in predicates):
            self.fail("expected at least one = among the predicates", at)
        self.seek(end)
        return Join(operator, tuple(predicates), window, span), more, behind

    # -- windows

    def _window_start(self) -> int:
        """Behind the last comma before the closing brace: no path has one outside of brackets."""
        depth, comma = 0, None
        while not (self.text == "}" and self.kind == "sign"):
            if self.kind == "end":
                self.unexpected("'}'")
            depth += (self.text in ("[", "(")) - (self.text in ("]", ")"))
            if self.text == "," and depth == 0:
                comma = self.at
            self._pass()
        if comma is None:
            self.unexpected("a comma and a window")
        return comma + 1

    def _pass(self) -> None:
        """Go on by one token; a name may have primes."""
        if self.kind == "name":
            self.variable_name(self.at) if ":" not in self.text else self.advance()
        else:
            self.advance()

    def _window(self) -> Window:
        if self.accept_word("infinite"):
            return Window()
        if self.kind != "number":
            self.unexpected("a window: a number of seconds … weeks or of documents, or infinite")
        at, number = self.at, self.advance()
        unit = self.advance() if self.kind == "name" else ""
        singular = unit.removesuffix("s")
        if singular == "document":
            documents = _whole(number, 1)
            if not 1 <= documents < _LONGEST or documents != Decimal(number):
                self.fail("expected a whole number of documents, at least 1", at)
            return Window(documents=documents)
        if singular not in _UNITS:
            self.fail(f"expected {', '.join(_UNITS)} or documents behind the number", at)
        length = _whole(number, _UNITS[singular])
        if length >= _LONGEST:
            self.fail("expected less than 146 years; a window without end is infinite", at)
        return Window(nanoseconds=length)

    # -- predicates

    def _predicate(self, before: range, behind: range) -> Predicate:
        at, left = self.at, self.term()
        if self.text not in FLIPPED:
            self.unexpected("one of = != < <= > >=")
        operator = cast(Comparison, self.advance())
        right = self.term()
        if left.block > right.block:
            left, operator, right = right, FLIPPED[operator], left
        if left.block not in before or right.block not in behind:
            self.fail("expected a variable of the block behind and one of a block before", at)
        if operator in ("=", "!=") and (is_number(left) or is_number(right)):
            left, right = as_number(left), as_number(right)  # a number is compared with numbers
        return Predicate(left, operator, right)


def _whole(number: str, unit: int) -> int:
    """So many units, without the part of one that is left: times are whole, so that makes no difference to `<=`."""
    with localcontext(prec=len(number) + 20):  # so that nothing is rounded
        return int(min(Decimal(number) * unit, Decimal(_LONGEST)))
