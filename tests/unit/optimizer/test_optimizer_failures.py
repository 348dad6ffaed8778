"""Whatever fails of the optimizer disturbs no answer: what it knew is dropped, and it begins anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from weft import Broker
from weft.engine.engine import Engine
from weft.engine.statistics import GroupStatistics
from weft.optimizer.adapting import Adapting
from weft.optimizer.groups import GroupChoice

QUERIES = [f"/m[p > {at % 10}][q > {990 + at % 9}]" for at in range(60)]


def documents(seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"<m><p>{chance.randrange(12)}</p><q>{chance.randrange(985, 1000)}</q></m>" for _ in range(32)]


def brokers() -> tuple[Broker, Broker]:
    """One that counts every batch, and one that counts none."""
    found = Broker(profile=True), Broker(optimizer="fixed")
    for broker in found:
        for query in QUERIES:
            broker.subscribe(query)
    return found


def failing(*_: Any, **__: Any) -> Any:
    raise MemoryError("injected")


def failing_steps(_: GroupChoice) -> Iterator[None]:
    yield None
    raise MemoryError("injected")


FAILURES: list[tuple[type, str, Callable[..., Any]]] = [
    (GroupChoice, "steps", failing_steps),
    (GroupChoice, "__init__", failing),
    (Adapting, "_decide", failing),
    (GroupStatistics, "_by_state", failing),
    (GroupStatistics, "_begin", failing),
]


@pytest.mark.parametrize(("where", "name", "fails"), FAILURES, ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_failure_of_the_optimizer_disturbs_no_answer_and_choosing_goes_on_behind_it(
    where: type, name: str, fails: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    adaptive, fixed = brokers()
    engine, adapting = adaptive._matcher.engine, adaptive._matcher.adapting
    assert isinstance(engine, Engine)
    assert adapting is not None
    with monkeypatch.context() as patch:
        patch.setattr(where, name, fails)
        for seed in range(16):
            batch = documents(seed)
            assert [list(ids) for ids in adaptive.matches(batch)] == [list(ids) for ids in fixed.matches(batch)]
    statistics = engine.large.statistics
    assert statistics is not None
    assert statistics.failures > 0
    assert adapting.choice is None or where is Adapting
    assert adaptive.rejected == ()

    adapting.choice = None
    for seed in range(16):
        adaptive.matches(documents(seed))

    assert adapting.choice is not None
    assert statistics.counts is not None


def test_what_failed_leaves_nothing_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else batches would be matched one after the other from then on."""
    adaptive, _ = brokers()
    engine, adapting = adaptive._matcher.engine, adaptive._matcher.adapting
    assert adapting is not None
    monkeypatch.setattr(GroupChoice, "steps", failing_steps)
    due = []
    for seed in range(16):
        adaptive.matches(documents(seed))
        due.append(adapting.is_due(engine))

    assert engine.large.statistics is not None
    assert engine.large.statistics.failures > 1
    assert due.count(True) < len(due) / 2
