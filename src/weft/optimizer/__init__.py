"""What is retrieved by itself and what is looked at from what survived, by cost.

For one query on an endless stream of elements, by plans that change meanwhile; and for very many queries, which a
broker does by itself (`weft.optimizer.adapting`).
"""

from weft.optimizer.algebra import ElementPlan
from weft.optimizer.drawing import draw_runs
from weft.optimizer.element_matcher import BatchRun, ElementMatcher
from weft.optimizer.elements import read_elements
from weft.optimizer.explain import explain_costs
from weft.optimizer.search import Optimizer
from weft.optimizer.tagging import ElementAnswer

__all__ = [
    "BatchRun",
    "ElementAnswer",
    "ElementMatcher",
    "ElementPlan",
    "Optimizer",
    "draw_runs",
    "explain_costs",
    "read_elements",
]
