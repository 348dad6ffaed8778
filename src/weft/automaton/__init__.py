"""All paths in one machine, grown lazily over label paths."""

from weft.automaton.labels import Bounds, LabelPaths
from weft.automaton.states import States

__all__ = ["Bounds", "LabelPaths", "States"]
