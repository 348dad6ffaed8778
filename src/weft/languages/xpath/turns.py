"""The tokens of a path from its first step upward, or its first union, in; its trails out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from weft.documents.kind import Kind
from weft.languages.xpath.above import NoRewriteError
from weft.languages.xpath.conditions import Conditions
from weft.languages.xpath.trails import Trail, Trails, ancestors, bounded, child, each, named, parents, tested
from weft.plans.plan import Label, Link, Step, Test, conjunction

AXES = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})
UPWARD = frozenset({"parent", "ancestor", "ancestor-or-self"})
#: What a step starts with that leads somewhere from attributes and texts too.
BACK = UPWARD | {".."}
_EVERYTHING = (Step("*"), Step("text()", kind=Kind.TEXT))
_INSTEAD = "write the paths out, or put the condition further up"


class Turns(Conditions):
    """Reads steps of all axes that there are rewrites for."""

    def axis(self) -> str:
        """The axis that is next, with its colons."""
        raise NotImplementedError

    def label(self, is_attribute: bool) -> Label:
        """The name test that is next."""
        raise NotImplementedError

    def turns(self, deep: bool) -> bool:
        """Whether the axis that is next leads to several ways, or up."""
        if self.text in ("self", "descendant-or-self"):
            at = self.at
            self.axis()
            is_any = self.text == "node" and self.following == "("
            is_down = self.query.startswith("self", at) and not deep
            self.seek(at)
            return not (is_any or is_down)
        return self.text in UPWARD

    def go_on(self, trails: Trails, deep: bool) -> Trails:
        """All further steps; with `deep` the first one leads to descendants."""
        outer = self._nested
        self.went_up = True
        while True:
            at = self.at
            self._nested += 1  # what goes up nests in the tests further up
            self.check_nesting(self._nested, at)
            try:
                trails = self._way(trails, deep)
            except NoRewriteError as reason:
                self.refuse(str(reason), at, _INSTEAD)
            if self.kind != "sign" or self.text not in ("/", "//"):
                self._nested = outer
                return trails
            if trails and self.following not in BACK and all(trail.leaf for trail in trails):
                self.fail(f"expected the end of the path, found {self.text!r}: no nodes lie below", self.at, True)
            deep = self.advance() == "//"

    def tested_all(self, trails: Trails, tests: list[Test], at: int) -> Trails:
        """What passes tests at the end of each way."""
        test = conjunction(tests)
        try:
            return each(trails, lambda trail: tested(trail, test))
        except NoRewriteError as reason:
            self.refuse(str(reason), at, _INSTEAD)

    def turned(self, trails: Trails, deep: bool) -> Trails:
        """The rest of a path, from where it first turns up or several ways, or asks for what is above."""
        tests, self.asked_above = self.asked_above, None
        if tests is None:
            return self.go_on(trails, deep)
        trails = self.tested_all(trails, tests, self.at)
        if self.kind != "sign" or self.text not in ("/", "//"):
            return trails
        return self.go_on(trails, self.advance() == "//")

    #: Predicates of the step just read that ask for what is above it; whoever reads the path moves them there.
    asked_above: list[Test] | None = None

    def _way(self, trails: Trails, deep: bool) -> Trails:
        """One step of all ways, with its predicates."""
        if self.accept("("):
            return self._union(trails, deep)
        step, rankable = self._written_step(deep)
        found = each(trails, step)
        return self.tested_all(found, self.predicates(rankable), self.at)

    def _union(self, trails: Trails, deep: bool) -> Trails:
        """`a/(b | c)`: every way goes on in every way."""
        self.enter()
        found = list(self.go_on(trails, deep))
        while self.accept("|") or self.accept_word("union"):
            found += self.go_on(trails, deep)
        self.leave()
        self.expect(")")
        self.next_step = None
        return self.tested_all(bounded(found), self.predicates(False), self.at)

    def _written_step(self, deep: bool) -> tuple[Callable[[Trail], Iterator[Trail]], bool]:
        """What a step makes of a way, and whether positions among siblings make sense behind it."""
        self.next_step = None
        if self.accept(".."):
            return partial(_up, parents, None, deep), False
        if self.accept("."):
            return partial(_stay, None, deep), False
        axis = "attribute" if self.accept("@") else self.axis() if self.following == "::" else "child"
        is_any = self.text == "node" and self.following == "("
        is_text = self.text == "text" and self.following == "("
        if is_any or is_text:
            self.advance()
            self.advance()
            self.expect(")")
        elif self.kind == "name" and self.following == "(":
            self.refuse_function()
        label = None if is_any else "text()" if is_text else self.label(axis == "attribute")
        if is_text and axis not in ("child", "descendant"):
            self.refuse(f"text() behind {axis}::", self.at)
        match axis:
            case "child" | "descendant":
                is_deep = deep or axis == "descendant"
                self.next_step = None if label is None else Step(label, kind=Kind.TEXT if is_text else Kind.ELEMENT)
                kind = Kind.TEXT if is_text else Kind.ELEMENT
                steps = _EVERYTHING if label is None else (Step(label, kind=kind),)
                return partial(_down, steps, is_deep), axis == "child" and label is not None
            case "attribute":
                return partial(_down, (Step(label or "*", kind=Kind.ATTRIBUTE),), deep), False
            case "self":
                return partial(_stay, label, deep), False
            case "descendant-or-self":
                return partial(_stay, label, True), False
            case "parent":
                return partial(_up, parents, label, deep), False
            case _:
                return partial(_up, partial(ancestors, or_self=axis == "ancestor-or-self"), label, deep), False


def _down(steps: tuple[Step, ...], deep: bool, trail: Trail) -> Iterator[Trail]:
    for step in steps if not trail.leaf else ():
        yield from child(trail, Step(step.label, deep, step.kind))


def _stay(label: Label | None, deep: bool, trail: Trail) -> Iterator[Trail]:
    """`self::` and, with `deep`, `descendant-or-self::`."""
    yield from _labelled(label, trail)
    if deep and not trail.leaf:
        yield from _down(_EVERYTHING if label is None else (Step(label),), True, trail)


def _up(move: Callable[[Trail], Iterator[Trail]], label: Label | None, deep: bool, trail: Trail) -> Iterator[Trail]:
    starts = [trail]
    if deep and not trail.leaf:
        starts += _down(_EVERYTHING, True, trail)
    for start in starts:
        for after in move(start):
            yield from _labelled(label, after)


def _labelled(label: Label | None, trail: Trail) -> Iterator[Trail]:
    if label is None:
        yield trail
    else:
        yield from named(trail, label)


def plain(links: list[Link], steps: list[Step]) -> tuple[Link, ...]:
    """The links of what was read so far."""
    return (*links, Link(tuple(steps))) if steps else tuple(links)
