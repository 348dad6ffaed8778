"""What is worked out once for an object in, a property that keeps it out, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["kept_property"]

if TYPE_CHECKING:
    from functools import cached_property as kept_property
else:

    class kept_property:  # noqa: N801  (a decorator, as the one of functools that it stands for)
        """`functools.cached_property` as it is from Python 3.12 on.

        Until then that holds one lock for all objects of a class while a value is worked out, so that threads which
        answer batches beside each other would wait. Here two that ask at once both work it out, and one is kept.
        """

        def __init__(self, work: Callable[[Any], Any]) -> None:
            self._work, self.__doc__ = work, work.__doc__

        def __set_name__(self, _: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, _: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._work(instance)
            return value
