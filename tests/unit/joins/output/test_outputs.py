"""What the messages of one moment may cost: each query's own, all together, and a text that many want once."""

from __future__ import annotations

import pytest

from weft.documents.document import Document, Limits
from weft.joins.output import outputs
from weft.joins.output.outputs import Account, MessageRow, Page, Unwritten, Writing, with_documents
from weft.plans.recipe import Recipe

DOCUMENTS = tuple(Document("<a/>", str(number)) for number in range(4))


class Texts(Page):
    """Writes a text of as many characters as the first node's number says, and remembers how often."""

    def __init__(self, letter: str = "x") -> None:
        self.asked: list[int] = []
        self._letter = letter

    def write(self, row: MessageRow, room: int) -> str | None:
        (((size, *_),),) = (row.nodes,)
        self.asked.append(size)
        text = self._letter * size
        return text if len(text.encode()) <= room else None


def way_to_write() -> Writing:
    return Writing(Recipe("", (), "", (), True), (), (), False)


def row(written: Writing, number: int, size: int, at: int = 0) -> MessageRow:
    return MessageRow(written, DOCUMENTS[:1], ((size,),), number, (at, 0.0))


def sizes(account: Account, page: Texts, *rows: MessageRow) -> list[int | str]:
    """How long each message is, or why there is none."""
    made: list[int | str] = []
    for each in rows:
        account.turn_to(each.moment)
        text = account.write(each, page)
        made.append(text.reason if isinstance(text, Unwritten) else len(text))
    return made


def test_a_text_that_several_queries_want_is_written_once_and_counts_once_for_all() -> None:
    shared, own = way_to_write(), way_to_write()
    account, page = Account(Limits(max_output_bytes=25)), Texts()

    made = sizes(account, page, row(shared, 1, 10), row(shared, 2, 10), row(shared, 3, 10), row(own, 4, 10))

    assert made == [10, 10, 10, 10]
    assert page.asked == [10, 10]
    assert sizes(account, page, row(own, 4, 6)) == ["more than 25 bytes of messages of one document in all"]


def test_each_query_has_its_own_room_and_behind_what_is_too_long_it_gets_nothing_more() -> None:
    one, other = way_to_write(), way_to_write()
    account, page = Account(Limits(max_message_bytes=20)), Texts()

    made = sizes(account, page, row(one, 1, 15), row(one, 1, 6), row(one, 1, 1), row(other, 2, 20))

    refused = "more than 20 bytes of messages of one document"
    assert made == [15, refused, refused, 20]


def test_another_moment_begins_anew() -> None:
    written = way_to_write()
    account, page = Account(Limits(max_message_bytes=20, max_output_bytes=20)), Texts()

    assert sizes(account, page, row(written, 1, 20, at=1), row(written, 1, 20, at=2)) == [20, 20]
    assert page.asked == [20, 20], "the text of another moment is not kept"


def test_a_text_is_measured_in_bytes() -> None:
    account = Account(Limits(max_output_bytes=30))

    made = sizes(account, Texts("é"), *(row(way_to_write(), number, 10) for number in range(2)))

    assert made == [10, "more than 30 bytes of messages of one document in all"]


def test_rows_are_parted_so_that_not_too_many_documents_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "_DOCUMENTS", 2)
    a, b, c, d = DOCUMENTS
    rows = [(a,), (a,), (b, c), (c,), (a, d)]

    parts = [(part, [document.id for document in known.values()]) for part, known in with_documents(rows, list)]

    assert parts == [([(a,), (a,), (b, c)], ["0", "1", "2"]), ([(c,), (a, d)], ["2", "0", "3"])]
