"""What fails while a batch is matched: it costs the one document or subscription that it is due to, and nobody else.

The faults are put into the engine itself, where a real one would be.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import weft
from weft.broker.answers import deliver, match
from weft.broker.confinement import MOST_CULPRITS
from weft.documents.build import read
from weft.documents.document import Limits, as_documents
from weft.engine import Engine
from weft.engine.messages.outcome import Outcome
from weft.engine.paths.labels import LabelPaths
from weft.engine.shared.constants import TEXT_INDEXES, Constants, Patterns
from weft.engine.shared.effort import Effort
from weft.languages import parse
from weft.plans.xscl import Xscl

HEALTHY = {
    "path": "//a/@n",
    "text": "//a[contains(., 'boom')]",
    "equal": "/r[a = 'fine']/a",
    "flwr": "<m>{for $a in //a where contains($a, 'o') return <x>{$a/text()}</x>}</m>",
    "two": "<m>{for $r in /r, $a in $r/a return $a}</m>",
    "except": "//a except //a[@n = '2']",
    "never": "//nothing",
}
DOCUMENTS = [
    weft.Document("<r><a n='1'>fine</a></r>", id="one"),
    weft.Document("<r><a n='2'>boom</a><a>fine</a></r>", id="two"),
    weft.Document("<r/>", id="three"),
    weft.Document("<broken", id="broken"),
    weft.Document("<r><a n='4'>boom</a></r>", id="four"),
    weft.Document("<r><a n='5'>fine</a></r>", id="five"),
]


def healthy_broker(*more: str) -> weft.Broker:
    broker = weft.Broker()
    for at, (name, query) in enumerate(HEALTHY.items()):
        if at == 2:
            for number, each in enumerate(more):
                broker.subscribe(each, id=f"bad-{number}")
        broker.subscribe(query, id=name)
    return broker


def told(messages: Sequence[weft.Message]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(message.document, message.subscription, message.nodes) for message in messages]


EXPECTED = told(healthy_broker().publish(DOCUMENTS))
MATCHED = healthy_broker().matches(DOCUMENTS)


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An index of patterns that raises `fault["error"]` for values with "boom" if it has all of some constants."""
    settings: dict[str, Any] = {"error": RuntimeError("a bug"), "constants": {"bad"}}

    class Faulty(Patterns):
        def __init__(self, constants: Constants) -> None:
            super().__init__(constants)
            self.words = {constant for constant, _ in constants}

        def probe(self, value: str, effort: Effort | None = None) -> Iterator[list[int]]:
            if "boom" in value and settings["constants"] <= self.words:
                raise settings["error"]
            return super().probe(value, effort)

    monkeypatch.setitem(TEXT_INDEXES, "matches", Faulty)
    return settings


@pytest.mark.parametrize("error", [RuntimeError("a bug"), RecursionError("too deep"), KeyError(), AssertionError("no")])
def test_a_subscription_that_fails_is_suspended_and_everybody_else_gets_exactly_their_messages(
    fault: dict[str, Any], error: Exception
) -> None:
    fault["error"] = error
    broker = healthy_broker("//a[matches(., 'bad')]")

    published = told(broker.publish(DOCUMENTS))

    assert published == EXPECTED
    assert list(broker.suspended) == ["bad-0"]
    assert broker.suspended["bad-0"].startswith(type(error).__name__)
    assert [(one.subscription, one.document) for one in broker.refused] == [("bad-0", "two")]
    assert [one.document for one in broker.rejected] == ["broken"]


@pytest.mark.usefixtures("fault")
def test_a_suspended_subscription_takes_part_no_more_but_stays_registered() -> None:
    broker = healthy_broker("//a[matches(., 'bad') or @n]")
    found = [broker.matches(DOCUMENTS), broker.matches(DOCUMENTS)]
    assert "bad-0" in broker
    assert "suspended" in broker.explain("bad-0")
    broker.unsubscribe("bad-0")
    found.append(broker.matches(DOCUMENTS))
    broker.subscribe("//a[matches(., 'bad') or @n = '1']", id="bad-0")
    found.append(broker.matches(DOCUMENTS[:1]))

    assert found[1:] == [MATCHED, MATCHED, [[*MATCHED[0], "bad-0"]]]
    assert found[0][0] == sorted([*MATCHED[0], "bad-0"], key=["path", "text", "bad-0", *HEALTHY].index)
    assert found[0][1:] == MATCHED[1:]
    assert broker.suspended == {}
    assert broker.refused_count == 1


@pytest.mark.usefixtures("fault")
def test_a_suspension_outlasts_a_rebuilt_engine() -> None:
    broker = healthy_broker("//a[matches(., 'bad')]")
    broker.matches(DOCUMENTS)

    broker._matcher.sweep()

    assert list(broker.suspended) == ["bad-0"]
    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    broker.unsubscribe("bad-0")
    assert broker.suspended == {}


@pytest.mark.usefixtures("fault")
def test_several_culprits_are_all_found() -> None:
    bad = [f"//a[matches(., 'bad')][matches(., '{number}') or b{number}]" for number in range(5)]
    broker = healthy_broker(*bad)

    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    assert list(broker.suspended) == [f"bad-{number}" for number in range(5)]


def test_subscriptions_that_fail_only_together_are_parted(fault: dict[str, Any]) -> None:
    fault["constants"] = {"left", "right"}
    broker = healthy_broker("//a[matches(., 'left')]", "//a[matches(., 'right')]")

    published = [told(broker.publish(DOCUMENTS)), told(broker.publish(DOCUMENTS))]

    assert published == [EXPECTED, EXPECTED]
    assert list(broker.suspended) == ["bad-1"]


def test_what_needs_too_much_memory_is_refused_for_the_document_and_not_suspended(fault: dict[str, Any]) -> None:
    fault["error"] = MemoryError("too much")
    broker = healthy_broker("//a[matches(., 'bad') or @n]")

    published = told(broker.publish(DOCUMENTS))

    assert [entry for entry in published if entry[1] != "bad-0"] == EXPECTED
    assert [entry[0] for entry in published if entry[1] == "bad-0"] == ["one", "five"]
    assert [(one.subscription, one.document) for one in broker.refused] == [("bad-0", "two"), ("bad-0", "four")]
    assert broker.suspended == {}


@pytest.mark.usefixtures("fault")
def test_a_document_that_very_many_fail_on_is_rejected_and_nobody_suspended() -> None:
    broker = healthy_broker(*(f"//a[matches(., 'bad')][b{number}]" for number in range(MOST_CULPRITS + 1)))

    published = told(broker.publish(DOCUMENTS))

    assert published == [entry for entry in EXPECTED if entry[0] not in ("two", "four")]
    assert [one.document for one in broker.rejected] == ["broken", "two", "four"]
    assert "more than 32 subscriptions fail: RuntimeError: a bug" in str(broker.rejected[1])
    assert broker.suspended == {}


def test_a_document_that_fails_without_any_subscription_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Engine.match

    def failing(engine: Engine, table: Any, whether: bool = False, place: int | None = None) -> Any:
        if any(document.id == "two" for document in table.documents):
            raise ZeroDivisionError("whoever asks")
        return answer(engine, table, whether, place)

    monkeypatch.setattr(Engine, "match", failing)
    broker = healthy_broker()

    assert told(broker.publish(DOCUMENTS)) == [entry for entry in EXPECTED if entry[0] != "two"]
    assert str(broker.rejected[-1]) == "two:1:1: ZeroDivisionError: whoever asks (byte 0)"
    assert broker.suspended == {}


def test_a_fault_that_a_new_engine_does_not_have_costs_nobody_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = healthy_broker()
    broker.matches(DOCUMENTS)
    old, nodes = broker._matcher.engine.large.subscribers, Outcome.nodes

    def failing(outcome: Outcome) -> Any:
        if outcome._subscribers is old:
            raise RuntimeError("spoilt")
        return nodes(outcome)

    monkeypatch.setattr(Outcome, "nodes", failing)

    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    assert broker.suspended == {}
    assert broker.refused == ()
    assert broker._matcher.engine.large.subscribers is not old


def test_a_fault_while_the_plan_is_frozen_is_confined_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuildable(Patterns):
        def __init__(self, constants: Constants) -> None:
            super().__init__(constants)
            if any(constant == "bad" for constant, _ in constants):
                raise ValueError("cannot be built")

    monkeypatch.setitem(TEXT_INDEXES, "matches", Unbuildable)
    broker = healthy_broker("//a[matches(., 'bad')]")

    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    assert broker.suspended == {"bad-0": "ValueError: cannot be built"}


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_through_and_leaves_the_broker_whole(
    monkeypatch: pytest.MonkeyPatch, signal: type[BaseException]
) -> None:
    find, left = LabelPaths._code, [0]

    def interrupted(paths: LabelPaths[Any], name: str) -> int:
        left[0] -= 1
        if left[0] == 0:
            raise signal
        return find(paths, name)

    monkeypatch.setattr(LabelPaths, "_code", interrupted)
    broker = healthy_broker()
    broker.publish("<a/>")
    left[0] = 2  # in the middle of a batch that brings new label paths

    with pytest.raises(signal):
        broker.publish(DOCUMENTS)

    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    assert broker.suspended == {}


def test_a_query_that_cannot_be_added_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = healthy_broker()
    add = Engine.add

    def half(engine: Engine, number: int, plan: Any) -> None:
        add(engine, number, plan)
        if number == len(HEALTHY):
            monkeypatch.setattr(Engine, "add", add)
            raise RuntimeError("half way")

    monkeypatch.setattr(Engine, "add", half)
    with pytest.raises(RuntimeError):
        broker.subscribe("//a", id="half")

    assert told(broker.publish(DOCUMENTS)) == EXPECTED
    assert broker.subscribe("//nothing", id="next") == "next"
    assert told(broker.publish(DOCUMENTS)) == EXPECTED


@pytest.mark.usefixtures("fault")
def test_a_worker_without_plans_rejects_the_document_alone() -> None:
    engine = Engine()
    for number, query in enumerate([*HEALTHY.values(), "//a[matches(., 'bad')]"]):
        plan = parse(query)
        assert not isinstance(plan, Xscl)
        engine.add(number, plan)
    engine = pickle.loads(pickle.dumps(engine))
    table = read(as_documents(DOCUMENTS), Limits())
    names = list(HEALTHY)

    rows, matched = deliver(engine, table), match(engine, table)

    assert rows.rejected == matched.rejected == [(1, "RuntimeError: a bug"), (3, "RuntimeError: a bug")]
    found = [
        (table.documents[document].id, names[subscription])
        for document, subscription in zip(rows.document[rows.is_first], rows.subscription[rows.is_first], strict=True)
    ]
    assert found == [entry[:2] for entry in EXPECTED if entry[0] not in ("two", "four")]
    assert [numbers.size for numbers in matched.subscriptions] == [len(MATCHED[0]), 0, 0, 0, len(MATCHED[5])]
    assert np.all(np.diff(rows.document) >= 0)
