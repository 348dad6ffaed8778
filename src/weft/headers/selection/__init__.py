"""Choosing which views a configuration has: the paper's greedy algorithm, the exact optimum, and our own selection.

The optimum is imported from its own module: it loads SciPy, which takes longer than all the rest.
"""

from weft.headers.selection.feedback import Feedback
from weft.headers.selection.greedy import discard_order, select_greedy
from weft.headers.selection.instance import Instance, hits
from weft.headers.selection.online import SelectedViews, choose_again, learn
from weft.headers.selection.ours import Choice, select_views
from weft.headers.selection.problem import CandidateView, Conjunct, Problem, ServerLoad, Service, problem_of

__all__ = [
    "CandidateView",
    "Choice",
    "Conjunct",
    "Feedback",
    "Instance",
    "Problem",
    "SelectedViews",
    "ServerLoad",
    "Service",
    "choose_again",
    "discard_order",
    "hits",
    "learn",
    "problem_of",
    "select_greedy",
    "select_views",
]
