"""Arrays that compiled stages keep."""

from typing import Any

from numpy.typing import NDArray

SMALL: int
SPACE: int

def wider(array: Any, size: int = ...) -> Any: ...
def lined_up(number: int, width: int, kind: Any) -> NDArray[Any]: ...
