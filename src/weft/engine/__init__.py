"""Plan and node table to bindings and messages."""

from weft.engine.engine import Engine, Matches

__all__ = ["Engine", "Matches"]
