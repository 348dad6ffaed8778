"""Checkpoints: one that was changed is refused, or the broker goes on exactly as from the one that was written."""

from __future__ import annotations

from functools import cached_property
from random import Random

from fuzz.case import Case, scratch
from weft import Broker, ConfigurationError, Document

_QUERIES = (
    "S//order->o[customer->x] FOLLOWED BY{x = y, 20 seconds} S//order->p[customer->y]",
    "SELECT <same>{ $x }</same> FROM S//order[customer->x][item->i] JOIN{x = y AND i = j, infinite} "
    "S//order[customer->y][item->j]",
    "S//order->o[customer->x][item->i] NOT FOLLOWED BY{x = y AND i = j, 120 seconds} S//order[customer->y][item->j]",
)
_FIRST, _ALL = 12, 24


class Checkpoints:
    """Mutated checkpoints of a broker with joins."""

    words = (
        *(b"0", b"1", b"-1", b"null", b"true", b"1e999", b"NaN", b'""', b"[]", b"{}", b'"size": 1', b'"at": 5'),
        *(b'"id"', b'"stream"', b'"timestamp"', b'"sequence"', b'"arrival"', b'"waiting"', b"\n", b"\0", b"\xff", b","),
    )
    most_memory = 1_000

    def __init__(self) -> None:
        self._file = scratch() / "checkpoint"

    def seeds(self) -> list[Case]:
        broker = _broker()
        broker.publish([_order(number) for number in range(_FIRST)])
        broker.checkpoint(self._file, {"read": _FIRST})
        return [Case(self._file.read_bytes(), "")]

    def fresh(self, chance: Random) -> Case:  # noqa: ARG002
        return self._written

    @cached_property
    def _written(self) -> Case:
        return self.seeds()[0]

    @cached_property
    def _expected(self) -> object:
        return self._goes_on(self._written)

    def check(self, case: Case) -> None:
        expected = self._expected
        try:
            found = self._goes_on(case)
        except ConfigurationError as error:
            if str(self._file) not in str(error):
                raise AssertionError(f"the error does not name the file: {error}") from error
            return
        assert found == expected, f"goes on with {found!r:.400}"

    def _goes_on(self, case: Case) -> object:
        self._file.write_bytes(case.data)
        broker = _broker()
        position = broker.restore(self._file)
        made = broker.publish([_order(number) for number in range(_FIRST, _ALL)]) + broker.advance()
        return position, made, broker.late, broker.rejected


def _broker() -> Broker:
    broker = Broker(lateness=5.0)
    for number, query in enumerate(_QUERIES):
        broker.subscribe(query, id=str(number))
    return broker


def _order(number: int) -> Document:
    text = f"<order n='{number}'><customer>{number % 5}</customer><item>{number % 3}</item></order>"
    return Document(text, f"S/{number}.xml", "S", 1_700_000_000 + number)
