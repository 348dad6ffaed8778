"""Whatever queries there are, wherever a checkpoint is made, whichever of them come back: these go on all the same."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft import Broker, Document, Message
from xscl_strategies import document_lists, queries

PUBLISHED = {  # read by one another, so that they stay together
    "made": "SELECT <t>{ $x }</t> FROM S//b->x FOLLOWED BY{x = y, 3 seconds} S//c->y PUBLISH P",
    "absent": "P//b->x NOT FOLLOWED BY{x = y, 2 seconds} P//b->y",
}


def new_broker(texts: dict[str, str], lateness: float) -> Broker:
    broker = Broker(lateness=lateness)
    for id, text in texts.items():
        broker.subscribe(text, id=id, language="xscl")
    return broker


def renamed(text: str) -> str:
    """The same join with other names of variables."""
    return re.sub(r"\b([xyz])(\d)\b", r"v\1\2", text)


def by_subscription(messages: list[Message], ids: set[str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    return {id: [(each.documents, each.text) for each in messages if each.subscription == id] for id in ids}


@pytest.mark.slow
@examples(150)
@given(
    st.lists(queries(), min_size=1, max_size=3),
    document_lists(late=True),
    st.integers(0, 7),
    st.sampled_from([0.0, 2.0, 1_000.0]),
    st.booleans(),
    st.data(),
)
def test_the_queries_that_come_back_go_on_as_if_nothing_had_happened(
    texts: list[str], documents: list[Document], cut: int, lateness: float, publishes: bool, data: st.DataObject
) -> None:
    named = {f"q{at}": text for at, text in enumerate(texts)} | {
        f"r{at}": renamed(text) for at, text in enumerate(texts)
    }
    kept = data.draw(st.sets(st.sampled_from(sorted(named)), min_size=1))
    together = PUBLISHED if publishes else {}
    whole = new_broker(named | together, lateness)
    for document in documents[:cut]:
        whole.publish(document)

    with TemporaryDirectory() as folder:
        whole.checkpoint(Path(folder) / "state", {"cut": cut})
        again = new_broker({id: named[id] for id in kept} | together, lateness)
        assert again.restore(Path(folder) / "state") == {"cut": cut}

    after = [
        [message for document in documents[cut:] for message in broker.publish(document)] + broker.advance()
        for broker in (whole, again)
    ]
    assert by_subscription(after[0], kept | set(together)) == by_subscription(after[1], kept | set(together))
    assert (whole.late, whole.ahead) == (again.late, again.ahead)
