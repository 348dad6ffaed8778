"""The text of a query block in, its tree of variables out: XPath with `->x` or `AS x` behind steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weft.languages.reader import behind_comments
from weft.languages.xquery.values import ValueParser
from weft.plans.flwr import Variable
from weft.plans.plan import Link, Step, Test
from weft.plans.xscl import Block

_WORDS = frozenset({"AS", "JOIN", "FOLLOWED", "NOT", "PUBLISH"})
_VARIABLE = re.compile(r"\s*([^\W\d][\w.\-·]*'*)")
_MARK = re.compile(r"->[\s\w.\-·]*'*|\bAS\b\s*[\w.\-·]*'*|\[|\]|\(:|\"[^\"]*\"|'[^']*'")
_ROOT = (Link((Step("*"),)),)


@dataclass(slots=True)
class Bound:
    """A variable while its block is read; its name is empty if the query gives it none."""

    name: str
    source: Bound | None
    links: tuple[Link, ...]
    below: list[Bound] = field(default_factory=list)

    def all(self) -> list[Bound]:
        """This one and those below it, in the order of the text."""
        return [self, *(bound for below in self.below for bound in below.all())]


class BlockParser(ValueParser):
    """Reads blocks. In their predicates a path may bind variables too, if it is the whole predicate."""

    def seek(self, at: int) -> None:
        """Go on with the token at a place; the arrow behind a name does not belong to it."""
        super().seek(at)
        if self.kind == "name" and self.text.endswith("-") and self.query.startswith(">", self.at + len(self.text)):
            self.text = self.text[:-1]

    #: Where bindings of the step that is being read go; nowhere inside a condition.
    _below: list[Bound] | None = None

    def block(self) -> Block:
        """A stream and a path over it; a stream alone stands for its documents' root elements."""
        stream = ""
        if self.kind == "name" and self.text not in _WORDS:
            stream = self.advance()
        if self.kind == "sign" and self.text in ("/", "//"):
            first, last = self._bound_path(None, self.advance() == "//")
        elif stream:
            first = last = Bound(self._binding(), None, _ROOT)
        else:
            self.unexpected("a stream or a path")
        bounds = first.all()
        places = {id(bound): place for place, bound in enumerate(bounds)}
        variables = tuple(
            Variable(bound.name, None if bound.source is None else places[id(bound.source)], bound.links)
            for bound in bounds
        )
        return Block(stream, variables, places[id(last)])

    def _bound_path(self, source: Bound | None, deep: bool) -> tuple[Bound, Bound]:
        """The first and the last variable of a path; a variable ends a stretch, and the next one starts from it."""
        first: Bound | None = None
        links: list[Link] = []
        steps: list[Step] = []
        outer = self._nested
        while True:
            at = self.at
            deep, name, below = self._bound_step(links, steps, deep)
            is_last = self.kind != "sign" or self.text not in ("/", "//")
            if name or below or is_last:
                if deep or not (links or steps):
                    self.refuse("a variable at a step that stays where it is", at)
                bound = Bound(name, source, (*links, Link(tuple(steps))) if steps else tuple(links), below)
                for inner in below:
                    inner.source = bound
                if source is not None and first is not None:
                    source.below.append(bound)
                first, source, links, steps = first or bound, bound, [], []
                self._nested += 1  # what comes nests in the variable
                self.check_nesting(self._nested, at)
            if is_last:
                self._nested = outer
                assert first is not None
                assert source is not None
                return first, source
            deep = self.advance() == "//" or deep

    def _bound_step(self, links: list[Link], steps: list[Step], deep: bool) -> tuple[bool, str, list[Bound]]:
        """A step with the variable and the variables below it; predicates stand before and behind its name."""
        outer, self._below = self._below, []
        at, stays = self.at, self._step(links, steps, deep)
        if stays is None:
            self.refuse("a step that goes up, or several ways, in a block", at)
        name = self._binding()
        if name and self.text == "[":
            self._attach(links, steps, self.predicates(rankable=False))
            if self.asked_above is not None:
                self.refuse("a step that goes up, or several ways, in a block", at)
        below, self._below = self._below, outer
        return stays, name, below

    def _binding(self) -> str:
        """The name that `->` or AS gives to what was read; primes belong to it."""
        is_binding = (self.kind == "sign" and self.text == "->") or (self.kind == "name" and self.text == "AS")
        return self.variable_name(self.at + 2) if is_binding else ""

    def variable_name(self, start: int) -> str:
        """The name that starts there, with its primes; goes on behind it."""
        found = _VARIABLE.match(self.query, start)
        if found is None:
            self.fail("expected a variable's name", start)
        self.seek(found.end())
        return found[1]

    def predicates(self, rankable: bool) -> list[Test]:
        """The predicates of a step; those that are a path with variables give no test but variables below."""
        tests: list[Test] = []
        while self.text == "[" and self.kind == "sign":
            if self._below is not None and self._binds(self.at):
                self._bind_predicate()
                continue
            outer, self._below = self._below, None
            tests.append(self.predicate(rankable, tests))
            self._below = outer
        return tests

    def _binds(self, start: int) -> bool:
        """Whether a variable is bound in the brackets that start there."""
        depth, at = 0, start
        while (found := _MARK.search(self.query, at)) is not None:
            mark, at = found[0], found.end()
            if mark == "(:":
                at = behind_comments(self.query, found.start()) or len(self.query)
                continue
            depth += (mark == "[") - (mark == "]")
            if mark.startswith(("->", "AS")):
                return True
            if depth == 0:
                return False
        return False

    def _bind_predicate(self) -> None:
        assert self._below is not None
        self.enter()
        self.expect("[")
        if self.kind == "sign" and self.text in ("/", "//"):
            self.refuse("an absolute path in a predicate", self.at, "start at . instead")
        below = self._below
        first, _ = self._bound_path(None, False)
        self._below = below
        below.append(first)
        self.leave()
        if self.text != "]":
            self.refuse("a variable inside a condition", self.at, "give it a predicate of its own")
        self.expect("]")
