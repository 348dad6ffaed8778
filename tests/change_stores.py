"""Stores of changes in memory, to look into."""

from __future__ import annotations

from collections.abc import Iterable


class Memory:
    """A store that counts what is written."""

    def __init__(self) -> None:
        self.kept: dict[int, bytes] = {}
        self.written = 0

    def get(self, number: int) -> bytes | None:
        return self.kept.get(number)

    def put(self, number: int, data: bytes) -> None:
        self.kept[number] = data
        self.written += len(data)

    def remove(self, number: int) -> None:
        self.kept.pop(number, None)

    def all(self) -> Iterable[tuple[int, bytes]]:
        return list(self.kept.items())
