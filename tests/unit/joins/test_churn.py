"""Queries and documents that come and go leave nothing behind in joins."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import pytest

from weft.documents.build import read
from weft.documents.document import Document
from weft.engine.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.errors import ConfigurationError
from weft.joins import joins as joins_module
from weft.joins.joins import Joins
from weft.joins.match import readings, search, state, value_codes, witness
from weft.joins.output import outputs, tables
from weft.languages.xscl import parse

#: Of every kind; with a number in it each time they are other queries.
KINDS = [
    "S//a{n}->x[b->y] FOLLOWED BY{{y = z, 5 seconds}} S//c{n}->w[b->z]",
    "S//a[. = '{n}']->x NOT FOLLOWED BY{{x = y, infinite}} S//c->y",
    "S//a[. = '{n}']->x NOT FOLLOWED BY{{x = y, 2 documents}} S//c->y",
    "S//a->x[d{n}->y] JOIN{{x = z AND y != z, 2 documents}} S//c->z JOIN{{z = u, 1 second}} S//a->u",
    "SELECT <r>{{ $x//k{n}, count($y/m{n}) }}</r> FROM S//a->x JOIN{{x = y, 1 second}} S//c->y PUBLISH T{n}",
    "S//e{n}->x",
]
STANDING = "S//a->x FOLLOWED BY{x = y, 2 seconds} S//c->y"


@contextmanager
def swept_often() -> Iterator[None]:
    """Joins clear up at once what they would leave for a while."""
    with ExitStack() as stack:
        for module, name, number in (
            (joins_module, "_OFTEN", 4),
            (state, "_SWEEP", 2),
            (witness, "_SWEEP", 20),
            (value_codes, "_SWEEP", 20),
            (outputs, "_SWEEP", 20),
            (tables, "_KEPT_BYTES", 1_000),
        ):
            stack.enter_context(patch.object(module, name, number))
        yield


@dataclass
class Stream:
    """Documents, each of its own time and value."""

    joins: Joins
    at: int = 0

    def publish(self, number: int, name: str = "S") -> None:
        for _ in range(number):
            self.at += 1
            text = f"<{'ac'[self.at % 2]}>{self.at // 2}</{'ac'[self.at % 2]}>"
            found = self.joins.process(read([Document(text, f"d{self.at}", name, self.at)]))
            list(self.joins.messages(found))


@pytest.mark.slow
def test_queries_that_come_and_go_leave_nothing_behind() -> None:
    joins = Joins()
    joins.add(0, parse(STANDING))
    stream, sizes, number = Stream(joins), [], 1
    with swept_often():
        for _ in range(12):
            for _ in range(10):
                kinds = [parse(kind.format(n=number)) for kind in KINDS]
                for at, plan in enumerate(kinds):
                    joins.add(number + at, plan)
                stream.publish(2)
                for at in range(len(kinds)):
                    joins.remove(number + at)
                number += len(kinds)
            stream.publish(20)
            sizes.append(len(pickle.dumps(joins)))

    assert max(sizes[6:]) < 1.2 * max(sizes[:6])
    assert len(joins) == len(joins.queries.shared) == joins.queries.ways == len(joins.queries.predicates) == 1
    assert len(joins.queries.openings) < 20
    assert joins.queries.predicates.bound < 20
    assert len(joins.absences) == len(joins.outputs) == len(joins.queries.single) == 0
    assert len(joins.stage) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["late", "ahead"])
def test_documents_that_are_not_joined_leave_nothing_behind(kind: str) -> None:
    joins, sizes = Joins(), []
    joins.add(0, parse(STANDING))
    joins.process(read([Document("<a>0</a>", "first", "S", 1_000)]))
    moment = 1 if kind == "late" else 4e9

    with patch.object(value_codes, "_SWEEP", 100), patch.object(tables, "_KEPT_BYTES", 1_000):
        for part in range(10):
            for at in range(100):
                joins.process(read([Document(f"<a>{part}-{at}</a>", f"d{part}-{at}", "S", moment)]))
            sizes.append(len(pickle.dumps(joins)))

    assert joins.late + joins.ahead == 1_000
    assert max(sizes[5:]) <= max(sizes[:5]) + 100
    assert len(joins.stage.values.texts) <= 200


def test_streams_that_nobody_counts_any_more_are_forgotten() -> None:
    joins = Joins()
    joins.add(0, parse("//a->x FOLLOWED BY{x = y, 2 documents} //c->y"))
    stream = Stream(joins)

    with swept_often():
        for at in range(200):
            stream.publish(2, f"stream {at}")

    assert len(joins.state.history.columns()) < 20


def test_numbers_that_are_given_again_find_what_they_should() -> None:
    joins = Joins()
    plans = [parse(f"S//a{at % 7}->x JOIN{{x = y, 1 day}} S//c{at % 5}->y") for at in range(35)]
    for at, plan in enumerate(plans):
        joins.add(at, plan)
    for at in range(0, 35, 2):
        joins.remove(at)
    for at in range(0, 35, 4):
        joins.add(at, plans[at])
    there = set(joins.registered)

    text = f"<r>{''.join(f'<a{at}>1</a{at}><c{at}>1</c{at}>' for at in range(7))}</r>"
    found = joins.process(read([Document(text, name, "S", 1) for name in ("one", "two")]))

    assert {message.number for message in joins.messages(found)} == there
    assert found.count == 2 * len(there)


@pytest.mark.parametrize("calls", range(1, 7))
def test_a_query_that_cannot_be_served_leaves_nothing_behind(calls: int) -> None:
    """The engine refuses the n-th path that it is asked for."""
    joins = Joins()
    joins.add(0, parse(STANDING))
    original, left = Engine.add, iter(range(calls - 1))

    def add(self: Engine, number: int, plan: EnginePlan) -> None:
        if next(left, None) is None:
            raise ConfigurationError("no more")
        original(self, number, plan)

    query = "SELECT <r>{ $x//k, $y/m, $x/n }</r> FROM S//e->x[b->u] JOIN{u = y, 1 day} S//f->y PUBLISH T"
    with patch.object(Engine, "add", add), pytest.raises(ConfigurationError, match="no more"):
        joins.add(1, parse(query))

    assert len(joins) == len(joins.queries.shared) == 1
    assert (len(joins.stage), len(joins.outputs)) == (2, 0)
    assert not joins.registered.streams
    joins.add(1, parse(query))
    assert (len(joins), len(joins.outputs)) == (2, 3), "it is taken when it can be"


def test_long_texts_are_read_and_not_remembered() -> None:
    readings._remembered.cache_clear()

    read_again = [readings.reading(f"{' ' * 10_000}{number}") for number in range(50)]

    assert read_again == [(float(number), None) for number in range(50)]
    assert readings._remembered.cache_info().currsize == 0


def test_the_bindings_of_large_documents_are_not_remembered_without_bound() -> None:
    joins = Joins()
    joins.add(0, parse("S//a->x JOIN{x = y AND x != z, 1 day} S//b->w[c->y][d->z]"))
    documents = [Document(f"<r><a>1</a>{'<b><c>1</c><d>2</d></b>' * 40}</r>", f"d{at}", "S", at) for at in range(12)]

    with patch.object(search, "_LARGE", 400):
        list(joins.messages(joins.process(read(documents))))

    assert 0 < len(joins.search._known) <= 3
