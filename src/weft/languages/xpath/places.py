"""A parser in, the place where it stands out, with what it knows there: it can go back and read the same otherwise."""

from __future__ import annotations

from typing import NamedTuple

from weft.languages.xpath.functions import Functions

#: What a parser knows of its place.
_KNOWN = (
    *("_nested", "_before", "_all_before", "_rankable", "_quantified", "_instructions", "_nested_in_predicate"),
    *("here", "next_step", "went_up", "asked_above"),
)


class ParserPlace(NamedTuple):
    """Where a parser stands, and what it knows there."""

    at: int
    known: dict[str, object]


class PlaceKeeper(Functions):
    """Reads functions, and goes back."""

    def place(self) -> ParserPlace:
        """Where this stands, to come back to."""
        return ParserPlace(self.at, {name: self.__dict__[name] for name in _KNOWN if name in self.__dict__})

    def go_back(self, place: ParserPlace) -> None:
        """Stand where this stood."""
        for name in _KNOWN:
            self.__dict__.pop(name, None)
        self.__dict__.update(place.known)
        self.seek(place.at)
