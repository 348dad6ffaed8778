"""Plan and node table to bindings and messages."""

from weft.engine.engine import Engine
from weft.engine.matches import Matches

__all__ = ["Engine", "Matches"]
