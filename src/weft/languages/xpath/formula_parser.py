"""What there is no test or pattern for in, the same as a formula out, with the best error where it is none."""

from __future__ import annotations

from collections.abc import Callable

from weft.errors import QueryError, UnsupportedError
from weft.languages.xpath.formula_reader import FormulaReader
from weft.languages.xpath.formula_selection import selection_of_formula
from weft.languages.xpath.operand import Operand
from weft.languages.xpath.places import ParserPlace
from weft.languages.xpath.turns import Turns
from weft.plans.formulas import Formula, type_of
from weft.plans.plan import Selection

#: Why whole selections are refused that are paths otherwise.
NOWHERE_AT_ALL, DOCUMENT_ALONE = "a path that leads nowhere", "the document itself as a result"


class FormulaParser(Turns):
    """Reads again, as formulas, what is refused otherwise."""

    def worked_out_selection(self, before: ParserPlace, reason: QueryError) -> Selection:
        """A path that label paths cannot tell, as a formula; or the reason is raised."""
        feature = reason.feature if isinstance(reason, UnsupportedError) and reason.at == before.at else ""
        if self.is_xquery or feature in (NOWHERE_AT_ALL, DOCUMENT_ALONE):
            raise reason
        formula = self._formula(before, reason, FormulaReader.path_whole)
        if type_of(formula) != "nodes":
            raise reason
        return selection_of_formula(formula)

    def worked_out(self, before: ParserPlace, reason: QueryError, is_whole: bool = False) -> Operand:
        """A comparison, or a whole condition, as a formula."""
        reader = FormulaReader(self)
        formula = self._formula(before, reason, FormulaReader.whole if is_whole else FormulaReader.equality, reader)
        if len(reader.scopes) > 1:
            raise reason
        return Operand("formula", formula=formula, scope=next(iter(reader.scopes), None))

    def _formula(
        self,
        before: ParserPlace,
        reason: QueryError,
        read: Callable[[FormulaReader], Formula],
        reader: FormulaReader | None = None,
    ) -> Formula:
        """What stands at a place as a formula; where that is none either, the error that says more is raised."""
        if reason.is_final:
            raise reason
        self.go_back(before)
        try:
            formula = read(reader or FormulaReader(self))
            if self.kind == "name" and self.text in ("is", "to"):
                raise reason
            return formula
        except QueryError as other:
            is_refused = isinstance(other, UnsupportedError) or not isinstance(reason, UnsupportedError)
            is_better = other.is_final or (is_refused and other.at > reason.at)
            raise (other if is_better else reason) from None
