"""Containment of tree patterns: whether one selection finds something wherever another does, or all that it finds.

`True` is always right. It is looked for in two ways: first a homomorphism, in polynomial time, which knows what values,
counts and positions say about each other; then models. These are exact for names, `/`, `//`, `*`, negated label tests,
attributes, texts, `[p]` and `[not(p)]` with `and` and `or`, and for unions, intersections and differences of such
patterns (of `covers`: unions on the wide side). There `False` means that it does not hold, unless the models are too
many: the problem is coNP-complete, with `not` harder still. With values, counts or positions `False` may mean that it
is not known. `decide` tells which it is, and a document in which containment does not hold.
"""

from weft.plans.containment.selections import Verdict, apart, contains, contains_plainly, covers, decide

__all__ = ["Verdict", "apart", "contains", "contains_plainly", "covers", "decide"]
