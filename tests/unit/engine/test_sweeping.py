"""What nobody wants any more is swept out in slices, also where no document has come yet."""

from __future__ import annotations

from itertools import count

from oracle import table_of
from weft.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.languages.xpath import parse

NUMBER = 400


def plan(number: int) -> EnginePlan:
    return parse(f"/a[@k = '{number}']/b{number % 7}")


def test_before_the_first_document_a_removal_does_a_slice_of_a_sweep() -> None:
    asked: list[int] = []
    ticks = count()
    engine = Engine(clock=lambda: 0.001 * next(ticks))  # a slice is over after two steps

    def plan_of(number: int) -> EnginePlan:
        asked.append(number)
        return plan(number)

    for number in range(NUMBER):
        engine.add(number, plan(number))
    engine.sweep(plan_of)

    assert not asked
    for number in range(0, NUMBER, 2):
        before = len(asked)
        engine.remove(number)
        assert len(asked) - before <= 3
    engine.add(NUMBER, plan(NUMBER))
    documents = [f"<a k='{number}'><b{number % 7}/></a>" for number in range(NUMBER + 1)]
    for _ in range(40):
        engine.keep_up()
        found = engine.match(table_of(documents)).subscriptions()
        assert [each.tolist() for each in found] == [
            [number] if number % 2 or number == NUMBER else [] for number in range(NUMBER + 1)
        ]
    engine.settle()
    assert len(set(asked)) == len(asked) < NUMBER
    assert engine.large.dead < NUMBER // 2
    assert len(engine) == NUMBER // 2 + 1
