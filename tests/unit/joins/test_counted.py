"""Windows in documents cost little for each document, however many wait and however long they are."""

from __future__ import annotations

import time
from random import Random

import pytest

from weft import Broker, Document
from weft.joins.time.history import History


@pytest.mark.timed
@pytest.mark.parametrize("published", [True, False])
def test_what_waits_for_documents_to_come_costs_the_others_little(published: bool) -> None:
    broker = Broker()
    broker.subscribe("S/a->x NOT FOLLOWED BY{x = y, 1000 documents} S/b->y", id="absent")
    if published:
        broker.subscribe("T/c PUBLISH U", id="published")
    documents = [Document(f"<a>{at}</a>", f"a{at}", "S", at) for at in range(1_200)]
    start = time.process_time()

    messages = broker.publish(documents)

    assert time.process_time() - start < 2
    assert [message.document for message in messages] == [f"a{at}" for at in range(200)]


def test_windows_of_many_lengths_close_when_so_many_have_come() -> None:
    broker = Broker()
    for number in (3, 1, 2):
        broker.subscribe(f"S/a->x NOT FOLLOWED BY{{x = y, {number} documents}} S/b->y", id=str(number))
    made = [broker.publish(Document(f"<a>{at}</a>", f"a{at}", "ST"[at % 2], at)) for at in range(8)]

    told = [[(message.subscription, message.document) for message in each] for each in made]

    assert told[2] == [("1", "a0")]
    assert told[4] == [("1", "a2"), ("2", "a0")]
    assert told[6] == [("3", "a0"), ("1", "a4"), ("2", "a2")]
    assert told[1] == told[3] == told[5] == told[7] == []


def test_what_must_not_follow_is_kept_as_long_as_matches_wait_for_documents_of_their_own_stream() -> None:
    broker = Broker()
    broker.subscribe("S/a->x NOT FOLLOWED BY{x = y, 2 documents} T/b->y", id="absent")
    others = [Document("<b>other</b>", f"o{at}", "T", 2 + at) for at in range(1_200)]
    closing = [Document(f"<a>{at}</a>", f"a{at}", "S", 2_000 + at) for at in range(4)]
    broker.publish([Document("<a>1</a>", "first", "S", 0), Document("<b>1</b>", "follows", "T", 1)])

    for other in others:
        broker.publish(other)

    assert [message.document for message in broker.publish(closing)] == ["a0", "a1"]


def test_a_history_finds_the_nth_document_also_when_it_is_trimmed() -> None:
    random, history, known = Random(1), History(), []
    for at in range(400):
        stream = random.choice(["S", "T", ""])
        known.append((stream, history.number(stream, at // 3), at // 3))
        if at % 50 == 49:
            history.trim(at - 30, {"S"})
        base, number = random.randrange(max(at - 15, 0), at + 1), random.randrange(1, 8)
        for asked in ("S", "T", ""):
            inside = [one for one in known if not asked or one[0] in (asked, "")]
            later = [one[1:] for one in inside if one[1] > base]
            assert history.behind(asked, base, number) == (later[number - 1] if len(later) >= number else None)
            later = [one[1:] for one in inside if one[2] > base // 3]
            assert history.later(asked, base // 3, number) == (later[number - 1] if len(later) >= number else None)
            assert history.count("S") == sum(one[0] in ("S", "") for one in known)
            assert history.count("S", base) == sum(one[0] in ("S", "") for one in known if one[1] <= base)
