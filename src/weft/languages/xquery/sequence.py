"""A FLWR expression without an enclosing element in, the selection of what it returns out."""

from __future__ import annotations

from dataclasses import replace

from weft.languages.xpath.above import parts_of
from weft.languages.xpath.trails import FROM_DOCUMENT, selection_of
from weft.languages.xquery.values import join
from weft.plans.flwr import Copy, Element, Returned, Variable
from weft.plans.plan import Link, Selection, conjunction


def selected(variables: tuple[Variable, ...], returned: Returned | Element | str) -> Selection | None:
    """The nodes that are returned; nothing where some could come twice, or not in document order.

    before  for $a in /r/a, $b in $a/b where $a/c = 1 return $b/d
    after   /r/a[c = 1]/b/d
    """
    if not isinstance(returned, Copy) or returned.slot.variable != len(variables) - 1:
        return None
    links: tuple[Link, ...] = ()
    for at, variable in enumerate(variables):
        if variable.source != (at - 1 if at else None) or _may_nest(links):
            return None
        *before, last = variable.links
        tests = [part for test in (last.test, variable.where) if test is not None for part in parts_of(test)]
        links = join(links, (*before, replace(last, test=conjunction(tests))))
    if returned.slot.links and _may_nest(links):
        return None
    return selection_of((FROM_DOCUMENT._replace(links=join(links, returned.slot.links)),))


def _may_nest(links: tuple[Link, ...]) -> bool:
    """Whether one node that the links lead to may lie in another: what lies below both would come in another order."""
    return any(step.deep for link in links for step in link.path)
