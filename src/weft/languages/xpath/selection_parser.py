"""The tokens of a query in, what it selects out: paths, and sets of what paths select."""

from __future__ import annotations

from typing import Literal

from weft.errors import QueryError
from weft.languages.xpath.formula_parser import DOCUMENT_ALONE, NOWHERE_AT_ALL, FormulaParser
from weft.languages.xpath.trails import Trails, selection_of, trails_of
from weft.plans.plan import Combine, Selection

_GO_ON = frozenset({"(", "[", "/", "//"})  # signs that stand behind a path that goes on


class SelectionParser(FormulaParser):
    """Reads selections."""

    def union(self) -> Selection:
        """Selections with `|` between them."""
        parts = [self._intersection()]
        while self.accept("|") or self.accept_word("union"):
            parts.append(self._intersection())
        return Combine("union", tuple(parts)) if len(parts) > 1 else parts[0]

    def _intersection(self) -> Selection:
        """`intersect` and `except`, from left to right: where they take turns the selection nests."""
        left, depth = self._selection(), self._nested
        while self.kind == "name" and self.text in ("intersect", "except"):
            operator: Literal["intersect", "except"] = "intersect" if self.advance() == "intersect" else "except"
            right = self._selection()
            if isinstance(left, Combine) and left.operator == operator:
                left = Combine(operator, (*left.parts, right))  # a - b - c, in one
            else:
                depth += 1
                self.check_nesting(depth, self.at)
                left = Combine(operator, (left, right))
        return left

    def _selection(self) -> Selection:
        """A path; one that label paths cannot tell is worked out for each document."""
        before = self.place()
        try:
            selection = self._path_selection()
        except QueryError as reason:
            return self.worked_out_selection(before, reason)
        if self.kind != "sign" or self.text not in _GO_ON:
            return selection
        left = QueryError(self.language, self.query, self.at, f"expected the end of the query, found {self.text!r}")
        return self.worked_out_selection(before, left)

    def _path_selection(self) -> Selection:
        if not self.accept("("):
            return self._pattern()
        self.enter()
        inner = self.union()
        self.leave()
        self.expect(")")
        if self.text in ("/", "//", "["):
            return self._behind_parentheses(inner)
        return inner

    def _behind_parentheses(self, inner: Selection) -> Selection:
        """`(a | b)[c]/d`: what stands behind belongs to each of the paths."""
        at = self.at
        trails = trails_of(inner)
        if trails is None:
            self.refuse("a step or predicate behind intersect or except", at, "write the paths out")
        self.next_step = None
        trails = self.tested_all(trails, self.predicates(rankable=False), at)
        if self.kind == "sign" and self.text in ("/", "//"):
            trails = self.go_on(trails, self.advance() == "//")
        return self._selected(trails, at)

    def _selected(self, trails: Trails, at: int) -> Selection:
        if not trails:
            self.refuse(NOWHERE_AT_ALL, at)
        selection = selection_of(trails)
        if selection is None:
            self.refuse(DOCUMENT_ALONE, at, "use /* for its root element")
        return selection

    def _pattern(self) -> Selection:
        at = self.at
        return self._selected(self.trails(absolute=True), at)
