"""Label paths in, what is made of each out, kept until it is cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakMethod

Made = TypeVar("Made")


class PathPlans(dict[int, Made]):
    """What is made of label paths, when it is first asked for; by a method of whoever keeps this."""

    def __init__(self, make: Callable[[int], Made]) -> None:
        super().__init__()
        self._make = WeakMethod(make)  # or both would keep each other until the garbage collector comes
        self.sizes: dict[int, int] = {}

    def __missing__(self, path: int) -> Made:
        make = self._make()
        assert make is not None, "what is kept is asked for as long as its keeper is"
        made = self[path] = make(path)
        return made

    def cut(self, mark: int) -> int:
        """Forget what was made of label paths from one on; how much that was comes back."""
        for path in [path for path in self if path >= mark]:
            del self[path]
        return sum(self.sizes.pop(path) for path in [path for path in self.sizes if path >= mark])
