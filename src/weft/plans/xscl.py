"""What an XSCL query becomes: blocks of variables over streams, joins between them, and a construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.plans.flwr import Element, Variable
from weft.plans.plan import Comparison

JoinOperator = Literal["JOIN", "FOLLOWED BY", "NOT FOLLOWED BY"]


@dataclass(frozen=True, slots=True)
class Window:
    """How far apart joined documents may be: so much time, or so many documents of the stream; neither: any."""

    nanoseconds: int | None = None
    documents: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A tree of variables over one stream. The first starts at the document, each other one from an earlier one.

    A variable that the query does not name is there where a path goes on from it; its name is empty. `output` is the
    variable at the end of the block's path, whose nodes the block gives.
    """

    stream: str
    variables: tuple[Variable, ...]
    output: int


DerivationName = Literal["string", "normalize-space", "lower-case", "upper-case", "number", "substring"]


@dataclass(frozen=True, slots=True)
class Derivation:
    """A function by which another value is made of a node's; `substring` has its numbers."""

    name: DerivationName
    arguments: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A variable of a block, both by their places, and what its value goes through, the first function first."""

    block: int
    variable: int
    derived: tuple[Derivation, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicate:
    """Two variables of different blocks whose nodes stand in this relation.

    `=` and `!=` compare string-values; the others numbers where both are numbers, dates where both are dates, and do
    not hold else.
    """

    left: Term
    operator: Comparison
    right: Term


@dataclass(frozen=True, slots=True)
class Join:
    """How a block is joined to those before it: by predicates, at least one of them an equality, within a window.

    The window lies between the document of the block before and that of this block. With `FOLLOWED BY` this block's
    document is strictly later; with `JOIN` it may be either way round; with `NOT FOLLOWED BY` there is none. What
    stands in parentheses happens when the latest of its documents comes: with a `span` the window lies between the
    latest document of the blocks from the first one up to the join, and the latest of those behind it up to the last.
    """

    operator: JoinOperator
    predicates: tuple[Predicate, ...]
    window: Window
    span: tuple[int, int] | None = None  # in parentheses: the first block before, and the last one behind


@dataclass(frozen=True, slots=True)
class Xscl:
    """A query over documents: `joins[i]` joins `blocks[i + 1]` to the blocks before it.

    `select` is the element that a message is built as, its slots counting the variables of all blocks one after the
    other; without it a message is the output of the only block, or a new root with the outputs of all blocks. `publish`
    names the stream that the messages are.
    """

    blocks: tuple[Block, ...]
    joins: tuple[Join, ...]
    select: Element | None = None
    publish: str | None = None

    @property
    def present(self) -> tuple[Block, ...]:
        """The blocks that a match has documents for: all but one that must not follow."""
        is_absence = bool(self.joins) and self.joins[-1].operator == "NOT FOLLOWED BY"
        return self.blocks[:-1] if is_absence else self.blocks
