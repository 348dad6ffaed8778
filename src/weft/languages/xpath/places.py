"""A parser in, the place where it stands out, with what it knows there: it can go back and read the same otherwise."""

from __future__ import annotations

from typing import NamedTuple

from weft.languages.xpath.functions import Functions


class ParserPlace(NamedTuple):
    """Where a parser stands, and what it knows there."""

    at: int
    known: dict[str, object]


class PlaceKeeper(Functions):
    """Reads functions, and goes back."""

    def place(self) -> ParserPlace:
        """Where this stands, to come back to; a copy of all that it knows costs less than to choose."""
        return ParserPlace(self.at, self.__dict__.copy())

    def go_back(self, place: ParserPlace) -> None:
        """Stand where this stood."""
        self.__dict__.clear()
        self.__dict__.update(place.known)
