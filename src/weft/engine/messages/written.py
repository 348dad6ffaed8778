"""Groups and recipes in, messages out: columns that say what each is made of, and its text where somebody reads it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, expand
from weft.columns.kept import kept_property
from weft.documents.excerpts import CopiedValues, Excerpts
from weft.documents.table import NodeTable
from weft.engine.messages.factory import Factory, Lists
from weft.engine.messages.groups import Groups
from weft.engine.messages.recipes import RecipeColumns
from weft.engine.messages.texts import together
from weft.engine.shared.nodes import NOTHING
from weft.kernel.piece_writer import PieceWriter
from weft.plans.recipe import Recipe

_MOST_COPIED = 1 << 24  # characters of values to order by, which are kept instead of the table
_BETWEEN = 8  # bytes that may stand between a node and the next


@dataclass(frozen=True, slots=True)
class MessageParts:
    """What messages are made of: by message its first group and the one behind its last, its document and recipe."""

    begin: Longs
    end: Longs
    document: Ints
    recipe: Ints


class WrittenMessages:
    """Messages of one batch, by number: a source of texts."""

    def __init__(
        self,
        table: NodeTable,
        factory: Factory,
        groups: Groups,
        made: MessageParts,
        recipes: list[Recipe],
        columns: RecipeColumns,
    ) -> None:
        self._table, self._factory, self._groups = table, factory, groups
        self.made, self._recipes, self._columns = made, recipes, columns
        self._known: dict[int, str] = {}
        self._values: CopiedValues | None = None  # to order by, where there is no table any more

    def settle(self, numbers: Ints) -> None:
        """Only these will be asked for: where copies and constants are all that they are made of, let the table go."""
        numbers = np.unique(numbers)
        recipes = self.made.recipe[numbers]
        if not self._columns.is_plain[recipes].all():
            return
        _ = self._writer
        ordered = numbers[self._columns.has_order[recipes]]
        if ordered.size:
            nodes = np.unique(self._keys(ordered)[1])
            if self._table.most_characters(nodes) > _MOST_COPIED:
                return
            self._values = CopiedValues(self._table, nodes)
        del self._table, self._factory

    # -- texts

    def strings(self, numbers: Ints) -> list[str]:
        """Some messages."""
        is_plain = self._columns.is_plain[self.made.recipe[numbers]]
        rows = self._rows(numbers[is_plain])
        texts = self._writer.strings(*rows, int(self._writer.sizes(*rows).max(initial=0)))
        if is_plain.all():
            return texts
        plain = iter(texts)
        each = zip(is_plain.tolist(), numbers.tolist(), strict=True)
        return [next(plain) if is_one else self.text(number) for is_one, number in each]

    def text(self, number: int) -> str:
        """A message that is not plain, or is kept already; it is kept, because those who get it may be many."""
        text = self._known.get(number)
        if text is None:
            text = self._known[number] = self._factory.message(self.recipe(number), self.lists(number))
        return text

    def keep(self, number: int, text: str) -> None:
        """A message that has been made already."""
        self._known[number] = text

    def recipe(self, number: int) -> Recipe:
        """The recipe of a message."""
        return self._recipes[int(self.made.recipe[number])]

    def lists(self, number: int) -> list[Lists]:
        """The groups of a message, as the factory takes them."""
        groups = self._groups
        first = groups.first[self.made.begin[number] : self.made.end[number] + 1].tolist()
        some = slice(first[0], first[-1])
        starts, ends = groups.starts[some].tolist(), groups.ends[some].tolist()
        lists = [groups.nodes[start:end].tolist() for start, end in zip(starts, ends, strict=True)]
        return [lists[low - first[0] : high - first[0]] for low, high in pairwise(first)]

    def joined(self, numbers: Ints) -> tuple[bytes | bytearray, Longs]:
        """Some messages in UTF-8, one behind the other, and where each ends; most are put together as columns."""
        is_plain = self._columns.is_plain[self.made.recipe[numbers]]
        if is_plain.all():
            rows = self._rows(numbers)
            ends: Longs = np.cumsum(self._writer.sizes(*rows))
            return self._writer.joined(*rows, int(ends[-1]) if ends.size else 0), ends
        return together([text.encode("utf-8", "surrogatepass") for text in self.strings(numbers)])

    def sizes(self, numbers: Ints) -> Longs:
        """No fewer bytes than each of these has; of plain ones how many it is."""
        is_plain = self._columns.is_plain[self.made.recipe[numbers]]
        sizes = self._writer.sizes(*self._rows(numbers[is_plain]))
        if sizes.size == numbers.size:
            return sizes
        most = self.most_sizes[numbers]
        most[is_plain] = sizes
        return most

    @kept_property
    def _writer(self) -> PieceWriter:
        groups, columns = self._groups, self._columns
        nodes, number = np.unique(groups.nodes, return_inverse=True)
        stretches = Excerpts(self._table, nodes, escaped=True).stretches
        pieces, lists = (columns.pieces.starts, columns.pieces.entries), (groups.first, groups.starts, groups.ends)
        return PieceWriter(pieces, columns.constants, lists, number.astype(np.int32), stretches)

    def _rows(self, numbers: Ints) -> tuple[Ints, Longs, Longs]:
        """Of messages their recipes, and the groups of each, in order, from where they begin."""
        begin, end, recipes = self.made.begin[numbers], self.made.end[numbers], self.made.recipe[numbers]
        message, group = expand(begin, end)
        ordered = np.flatnonzero(self._columns.has_order[recipes[message]])
        if ordered.size:
            group[ordered] = self._in_order(message[ordered], group[ordered], recipes)
        return recipes, np.append(0, np.cumsum(end - begin)), group

    # -- order

    def _in_order(self, message: Longs, group: Longs, recipes: Ints) -> Longs:
        """Groups, message by message, in the order that their recipes ask for; nothing comes before every value."""
        keys = self._columns.key_slots
        recipe = recipes[message]
        number = np.diff(keys.starts)[recipe]
        columns: list[Longs] = []
        for at in range(int(number.max(initial=0))):
            here = np.flatnonzero(number > at)
            entry = keys.starts[recipe[here]] + at
            ranks = np.zeros(message.size, np.int64)
            ranks[here] = self._ranks(self._firsts(group[here], keys.entries[entry]))
            ranks[here] *= np.where(self._columns.is_descending[entry] != 0, -1, 1)
            columns.append(ranks)
        return group[np.lexsort((*reversed(columns), message))]

    def _firsts(self, group: Longs, slot: Ints) -> Ints:
        """The first node of a slot of each group, or NOTHING."""
        groups = self._groups
        of_list = groups.first[group] + slot
        found = np.full(group.size, NOTHING, np.int32)
        some = np.flatnonzero(groups.starts[of_list] < groups.ends[of_list])
        found[some] = groups.nodes[groups.starts[of_list[some]]]
        return found

    def _ranks(self, nodes: Ints) -> Longs:
        """The places of the nodes' values among all of them, from 1; 0 where there is none."""
        distinct, place = np.unique(nodes, return_inverse=True)
        has_value = distinct != NOTHING
        found = distinct[has_value]
        values = self._table.string_values(found) if self._values is None else self._values.of(found)
        order = {value: rank for rank, value in enumerate(sorted(set(values)), 1)}
        ranks = np.zeros(distinct.size, np.int64)
        ranks[has_value] = [order[value] for value in values]
        return ranks[place]

    # -- sizes

    @kept_property
    def entries(self) -> Longs:
        """How many nodes the lists of each message have."""
        return self._summed(self._groups.ends - self._groups.starts)

    @kept_property
    def most_sizes(self) -> Longs:
        """More bytes than each message can have: known without writing it."""
        most = np.append(0, np.cumsum(self._factory.budget.most_sizes(self._groups.nodes) + _BETWEEN))
        copies = self._summed(most[self._groups.ends] - most[self._groups.starts])
        recipe = self.made.recipe
        return (self.made.end - self.made.begin) * self._columns.constant[recipe] + copies * self._columns.repeats[
            recipe
        ]

    def _summed(self, of_lists: Longs) -> Longs:
        before = np.append(0, np.cumsum(of_lists))[self._groups.first]
        return np.asarray(before[self.made.end] - before[self.made.begin])

    def has_large_order(self, most: int) -> Flags:
        """Which messages may be ordered by values of more than so many characters in all."""
        large = np.zeros(self.made.begin.size, bool)
        ordered = np.flatnonzero(self._columns.has_order[self.made.recipe])
        if not ordered.size:
            return large
        which, nodes = self._keys(ordered)
        if self._table.most_characters(np.unique(nodes)) * int(np.bincount(which).max(initial=0)) > most:
            large[ordered] = np.bincount(which, self._table.lengths(nodes), ordered.size) > most
        return large

    def _keys(self, ordered: Ints | Longs) -> tuple[Longs, Ints]:
        """(place of the message, node) for all nodes whose values messages are ordered by."""
        keys = self._columns.key_slots
        which, group = expand(self.made.begin[ordered], self.made.end[ordered])
        recipe = self.made.recipe[ordered[which]]
        at, inside = expand(keys.starts[recipe], keys.starts[recipe + np.int64(1)])
        nodes = self._firsts(group[at], keys.entries[inside])
        return which[at][nodes != NOTHING], nodes[nodes != NOTHING]
