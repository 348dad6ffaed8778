"""The ways that a path may go, step by step: upward steps become conditions further up, so that all go down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from weft.documents.kind import Kind
from weft.languages.xpath.above import (
    MOST_WAYS,
    Above,
    Axis,
    NoRewriteError,
    above,
    at_document,
    branches,
    knowing,
    never,
    parts_of,
)
from weft.plans.plan import Always, Combine, Has, Link, Named, Pattern, Rank, Selection, Step, Test, conjunction, has
from weft.plans.walk import walk


class Trail(NamedTuple):
    """One way of a path: up from the node where it starts, each time with a test before, and then down.

    An absolute one starts at the document: a link without steps at its front asks that.
    """

    links: tuple[Link, ...] = ()
    ups: tuple[tuple[Test | None, Axis], ...] = ()
    is_absolute: bool = False

    @property
    def is_at_start(self) -> bool:
        """Whether no step has been taken down."""
        return not self.links or not self.links[-1].path

    @property
    def leaf(self) -> bool:
        """Whether it leads to attributes or texts."""
        return not self.is_at_start and self.links[-1].path[-1].kind is not Kind.ELEMENT

    def wrapped(self, test: Test) -> Test:
        """A test on the node where the way down starts, asked of the node where all starts."""
        for before, axis in reversed(self.ups):
            test = conjunction([*([before] if before else []), above(axis, test)]) or test
        return test

    def test(self, value: Test | None = None) -> Test:
        """Some node at its end passes the test."""
        return self.wrapped(has(self.links, value)) if self.ups else has(self.links, value)


Trails = tuple[Trail, ...]
#: A path that can lead nowhere, like `@a/b/..`.
NOWHERE: Trails = (Trail((Link((), Always(False)),)),)
FROM_DOCUMENT, FROM_NODE, UP_TO_DOCUMENT = Trail(is_absolute=True), Trail(), Trail(ups=((None, "document"),))


def bounded(trails: Iterable[Trail]) -> Trails:
    """Each way once, and none that leads nowhere."""
    found = tuple(dict.fromkeys(trail for trail in trails if not any(never(link.test) for link in trail.links)))
    if len(found) > MOST_WAYS:
        raise NoRewriteError(f"a path that goes more than {MOST_WAYS} ways")
    return found


# -- down


def child(trail: Trail, step: Step, test: Test | None = None) -> Iterator[Trail]:
    """One step down, and a test there that asks for nothing above."""
    links = trail.links
    if trail.is_absolute and links and not links[-1].path and links[-1].test is not None:
        root = at_document(links[-1].test)
        if step.deep:
            yield Trail((Link((Step("*"),), root), Link((step,), test)), is_absolute=True)
        if step.kind is Kind.ELEMENT:
            known = knowing(root, step.label)
            if not never(known):
                asked = conjunction([part for part in (known, test) if part is not None])
                yield Trail((Link((replace(step, deep=False),), asked),), is_absolute=True)
    elif links and links[-1].path and links[-1].test is None:
        yield trail._replace(links=(*links[:-1], Link((*links[-1].path, step), test)))
    else:
        yield trail._replace(links=(*links, Link((step,), test)))


def tested(trail: Trail, test: Test | None) -> Iterator[Trail]:
    """A test on the nodes that a trail leads to; what it asks of those above moves up.

    before  p/b[../c = 1]
    after   p[c = 1]/b
    """
    if test is None:
        yield trail
        return
    for asked, up in branches(test):
        found: list[Trail] = [_asked(trail, asked)]
        for each in up:
            found = list(bounded(moved for one in found for moved in _moved(one, each)))
        yield from found


def _asked(trail: Trail, test: Test | None) -> Trail:
    if test is None:
        return trail
    if not trail.links:
        return trail._replace(links=(Link((), test),))
    last = trail.links[-1]
    both = conjunction([part for part in (last.test, test) if part is not None])
    label = _label_in(both) if last.path and last.path[-1] == replace(_ANY, deep=last.path[-1].deep) else None
    if label is None or both is None:
        return trail._replace(links=(*trail.links[:-1], Link(last.path, both)))
    path = (*last.path[:-1], replace(last.path[-1], label=label))
    return trail._replace(links=(*trail.links[:-1], Link(path, knowing(both, label) if both != Named(label) else None)))


_ANY = Step("*")


def _label_in(test: Test | None) -> str | None:
    """The name that a test asks for, which the step can have instead: not where positions count other names too."""
    if test is None or any(isinstance(part, Rank) for part in walk(test)):
        return None
    labels = [part.label for part in parts_of(test) if isinstance(part, Named)]
    return next((label for label in labels if isinstance(label, str) and "*" not in label), None)


def _moved(trail: Trail, asked: Above) -> Iterator[Trail]:
    """What is asked of those above the nodes that a trail leads to, asked where it comes by.

    before  p//b[ancestor::c]
    after   p//c//b, and p[self::c]//b, and p//b where it is asked of those above p
    """
    if trail.is_at_start:
        if not trail.is_absolute:
            yield _asked(trail, above(asked.axis, asked.test))
        elif asked.axis == "document":
            yield _asked(trail, asked.test)  # told of the root element later; nothing is above a document
        return
    before, step, test = _split(trail)
    if asked.axis == "document":
        for start in _moved(before, asked):
            yield from child(start, step, test)
        return
    flat_step = replace(step, deep=False) if asked.axis == "parent" else step
    for start in tested(before, asked.test):
        yield from child(start, flat_step, test)
    if step.deep:
        for between in child(before, Step("*", deep=True)):
            for start in tested(between, asked.test):
                yield from child(start, flat_step, test)
    if asked.axis == "ancestor":
        for start in _moved(before, asked):
            yield from child(start, step, test)


def _split(trail: Trail) -> tuple[Trail, Step, Test | None]:
    """A trail without its last step, the step, and the test there."""
    *before, last = trail.links
    rest = (Link(last.path[:-1]),) if len(last.path) > 1 else ()
    return trail._replace(links=(*before, *rest)), last.path[-1], last.test


def below_document(trail: Trail) -> Trails:
    """A way from the document that begins with a test there: asked of the root element.

    before  /.[a/c]/a/b   /self::a/b
    after   /a[c]/b       nowhere
    """
    first, *rest = trail.links
    found: Trails = (Trail((first,), is_absolute=True),)
    for link in rest:
        for at, step in enumerate(link.path, 1):
            test = link.test if at == len(link.path) else None
            found = each(found, partial(child, step=step, test=test))
    return found


# -- up


def parents(trail: Trail) -> Iterator[Trail]:
    """The parents of the nodes that a trail leads to.

    before  p/b[2]/..   p//b/..
    after   p[b[2]]     p[b] and p//*[b]
    """
    if trail.is_at_start:
        if not trail.is_absolute:
            test = trail.links[-1].test if trail.links else None
            yield Trail((), (*trail.ups, (test, "parent")))
        return
    before, step, test = _split(trail)
    has_child = Has((replace(step, deep=False),), test)
    if not (before.is_absolute and before.is_at_start and step.kind is not Kind.ELEMENT):
        yield _asked(before, has_child)
    if step.deep:
        yield from child(before, Step("*", deep=True), has_child)


def ancestors(trail: Trail, or_self: bool) -> Iterator[Trail]:
    """The ancestors of the nodes that a trail leads to.

    before  //a/ancestor::b
    after   //b[.//a]
    """
    if or_self:
        yield trail
    if trail.is_at_start:
        if not trail.is_absolute:
            test = trail.links[-1].test if trail.links else None
            yield Trail((), (*trail.ups, (test, "ancestor")))
        return
    before, step, test = _split(trail)
    below = Has((step,), test)
    if step.deep:
        yield from child(before, Step("*", deep=True), below)
    yield from ancestors(_asked(before, below), or_self=True)


def named(trail: Trail, label: object) -> Iterator[Trail]:
    """Those nodes of a trail that are elements of a name; `*` are all elements."""
    assert isinstance(label, str)
    if trail.leaf or (trail.is_absolute and trail.is_at_start):
        return
    if label == "*" and not trail.is_at_start:
        yield trail
        return
    yield _asked(trail, Named(label))


def each(trails: Iterable[Trail], step: Callable[[Trail], Iterable[Trail]]) -> Trails:
    """One step of all ways."""
    return bounded(after for trail in trails for after in step(trail))


# -- selections


def trails_of(selection: Selection) -> Trails | None:
    """The ways of a selection; nothing where it is not a union of paths."""
    if isinstance(selection, Combine):
        parts = [trails_of(part) for part in selection.parts]
        if selection.operator != "union" or None in parts:
            return None
        return bounded(trail for part in parts if part for trail in part)
    links: list[Link] = []
    pattern: Pattern | None = selection
    while pattern is not None:
        links.insert(0, Link(pattern.path, pattern.test))
        pattern = pattern.parent
    return (Trail(tuple(links), is_absolute=True),)


def selection_of(trails: Trails) -> Selection | None:
    """The nodes that trails lead to; the document itself is none of them."""
    patterns = [_pattern_of(trail) for trail in trails if not trail.is_at_start]
    if len(patterns) == 1:
        return patterns[0]
    return Combine("union", tuple(patterns)) if patterns else None


def _pattern_of(trail: Trail) -> Pattern:
    first, *rest = trail.links
    pattern = Pattern(None, first.path, first.test)
    for link in rest:
        pattern = Pattern(pattern, link.path, link.test)
    return pattern
