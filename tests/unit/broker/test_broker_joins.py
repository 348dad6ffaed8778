"""The broker with XSCL: what is delivered, in which order, over time, through cascades, changes and restarts."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from math import nan
from pathlib import Path
from unittest.mock import patch

import pytest

import weft
from weft import Broker, ConfigurationError, Document, Message, QueryError
from weft.joins import joins
from weft.joins.match import state, witness

FOLLOWED = "S//a->x FOLLOWED BY{x = y, infinite} S//b->y"
JOINED = "S//a->x JOIN{x = y, infinite} S//b->y"
ABSENT = "S//a->x NOT FOLLOWED BY{x = y, 10 seconds} S//b->y"


def doc(data: str, at: float | None = None, id: str = "", stream: str = "S") -> Document:
    """A document; without an id it is named after its root element and its time."""
    return Document(data, id or f"{data[1]}{at:g}" if at is not None else id, stream, at)


def broker_with(queries: dict[str, str], lateness: float = 0.0) -> Broker:
    broker = Broker(lateness=lateness)
    for id, query in queries.items():
        broker.subscribe(query, id=id, language="xscl")
    return broker


def joined(messages: Sequence[Message]) -> list[str]:
    """Each message as its subscription and its documents."""
    return [" ".join((message.subscription, *message.documents)) for message in messages]


# -- messages


def test_a_message_has_all_its_documents_and_the_last_block_s_as_its_document() -> None:
    broker = broker_with({"q": FOLLOWED})

    messages = broker.publish([doc("<a>1</a>", 1, "first"), doc("<b>1</b>", 2, "second")])

    text = "<result><a>1</a><b>1</b></result>"
    assert messages == [Message("q", "second", (text,), ("first", "second"))]
    assert messages[0].text == text


def test_documents_stand_in_the_order_of_the_blocks_whatever_came_first() -> None:
    broker = broker_with({"q": JOINED})

    assert joined(broker.publish([doc("<b>1</b>", 1), doc("<a>1</a>", 2)])) == ["q a2 b1"]


def test_other_languages_have_no_list_of_documents() -> None:
    broker = Broker()
    broker.subscribe("/a", id="path")

    assert broker.publish(doc("<a/>", 1))[0].documents == ()


def test_a_query_is_recognized_by_its_words() -> None:
    broker = Broker()
    broker.subscribe(FOLLOWED)
    broker.subscribe("SELECT * FROM S//c")

    assert len(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2), doc("<c/>", 3)])) == 2


def test_a_stream_or_a_path_alone_is_a_query_if_the_language_is_told() -> None:
    broker = broker_with({"stream": "S", "path": "S//b"})

    messages = broker.publish([doc("<a><b>1</b><b>2</b></a>", 1), doc("<b>3</b>", 2, stream="T")])

    assert sorted((message.subscription, message.text) for message in messages) == [
        ("path", "<b>1</b>"),
        ("path", "<b>2</b>"),
        ("stream", "<a><b>1</b><b>2</b></a>"),
    ]


def test_messages_of_equal_queries_go_to_all_in_the_order_of_subscribing() -> None:
    broker = broker_with({"z": FOLLOWED, "a": FOLLOWED, "m": FOLLOWED})

    assert joined(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2)])) == ["z a1 b2", "a a1 b2", "m a1 b2"]


def test_a_subscriber_sees_its_messages_in_the_order_of_documents_in_one_batch_as_one_by_one() -> None:
    documents = [doc("<a>1</a>", 1), doc("<b>1</b>", 2), doc("<r><b>1</b><b>2</b></r>", 3), doc("<b>1</b>", 4)]
    single = broker_with({"q": JOINED})
    whole = broker_with({"q": JOINED})

    one_by_one = [message for document in documents for message in single.publish(document)]

    assert joined(one_by_one) == ["q a1 b2", "q a1 r3", "q a1 b4"]
    assert whole.publish(documents) == one_by_one


def test_distinct_output_nodes_are_distinct_messages_and_others_do_not_multiply() -> None:
    shown = broker_with({"q": "S//a->x FOLLOWED BY{x/k = y/k, infinite} S//b->y"})
    each = broker_with({"q": "SELECT <m>{ $k/text() }</m> FROM S//a[k->k] FOLLOWED BY{k = l, infinite} S//b[k->l]"})
    documents = [doc("<a><k>1</k><k>2</k></a>", 1), doc("<b><k>2</k><k>1</k></b>", 2)]

    assert len(shown.publish(documents)) == 1
    assert sorted(message.text for message in each.publish(documents)) == ["<m>1</m>", "<m>2</m>"]


def test_xpath_flwr_and_xscl_are_answered_side_by_side() -> None:
    broker = broker_with({"join": FOLLOWED})
    broker.subscribe("//b", id="path")
    broker.subscribe("<o>{ for $b in /b return $b/text() }</o>", id="flwr")

    messages = broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2)])

    assert {message.subscription for message in messages} == {"join", "path", "flwr"}
    assert broker.matches(doc("<b>1</b>", 3)) == [["path", "flwr"]], "matches leaves joins out"


def test_matches_does_not_feed_joins() -> None:
    broker = broker_with({"q": FOLLOWED})

    broker.matches(doc("<a>1</a>", 1))

    assert broker.publish(doc("<b>1</b>", 2)) == []


def test_namespaces_are_the_query_s_or_ignored() -> None:
    broker = Broker()
    broker.subscribe("S//p:a->x FOLLOWED BY{x = y, infinite} S//b->y", id="p", namespaces={"p": "urn:u", "": "urn:v"})
    broker.subscribe(FOLLOWED, id="any", ignore_namespaces=True)
    broker.subscribe(FOLLOWED, id="none")

    messages = broker.publish([doc("<a xmlns='urn:u'>1</a>", 1), doc("<b xmlns='urn:v'>1</b>", 2)])

    assert joined(messages) == ["p a1 b2", "any a1 b2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("", ""), ("é", "é"), ("𝒳", "𝒳"), ("&lt;&amp;", "<![CDATA[<&]]>"), ("x" * 100_000, "x" * 100_000)],
)
def test_values_are_equal_as_texts(one: str, other: str) -> None:
    broker = broker_with({"q": FOLLOWED})

    assert len(broker.publish([doc(f"<a>{one}</a>", 1), doc(f"<b>{other}</b>", 2), doc("<b>1.0</b>", 3)])) == 1


@pytest.mark.parametrize(
    ("lesser", "greater", "is_less"),
    [
        ("9", "10", True),
        (" 9 ", "1e3", True),
        ("2026-02-28", "2026-03-01T00:00:00Z", True),
        ("2026-03-01T01:00:00+02:00", "2026-03-01", True),
        ("2026-02-28", "10", False),
        ("abc", "abd", False),
        ("", "1", False),
    ],
)
def test_inequalities_compare_numbers_or_instants(lesser: str, greater: str, is_less: bool) -> None:
    broker = broker_with({"q": "S//a->x[@k->k] FOLLOWED BY{k = l AND x < y, infinite} S//b->y[@k->l]"})

    messages = broker.publish([doc(f"<a k=''>{lesser}</a>", 1), doc(f"<b k=''>{greater}</b>", 2)])

    assert len(messages) == is_less


def test_select_builds_with_attributes_and_counts() -> None:
    select = 'SELECT <r i="{ $i }" n="{ count($x/c) }">{ $x/c/text() }{ $y }</r> FROM '
    broker = broker_with({"q": f"{select} S//a->x[@i->i] FOLLOWED BY{{i = j, infinite}} S//b->y[@i->j]"})

    messages = broker.publish([doc("<a i='1'><c>é</c><c>&lt;</c></a>", 1), doc("<b i='1'/>", 2)])

    assert messages[0].text == '<r i="1" n="2">é&lt;<b i=\'1\'/></r>'


def test_attributes_of_one_name_do_not_spoil_a_message() -> None:
    broker = broker_with({"q": "S//a/@i->x FOLLOWED BY{x = y, infinite} S//b/@i->y PUBLISH T", "t": "T"})

    messages = broker.publish([doc("<a i='1'/>", 1), doc("<b i='1'/>", 2)])

    assert [message.subscription for message in messages] == ["q", "t"], "a message with an element is a document"


# -- destinations


def test_destinations_get_the_messages_of_joins_and_one_that_fails_disturbs_none() -> None:
    received: list[Message] = []

    def broken(_: Message) -> None:
        raise OSError("the line is dead")

    broker = Broker()
    broker.subscribe(FOLLOWED, id="broken", to=broken)
    broker.subscribe(FOLLOWED, id="good", to=received.append)

    returned = broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2)])

    assert joined(received) == ["good a1 b2"]
    assert joined(returned) == ["broken a1 b2", "good a1 b2"]
    assert [failed.message.subscription for failed in broker.undelivered] == ["broken"]


def test_a_folder_gets_a_file_for_each_message(tmp_path: Path) -> None:
    broker = Broker()
    broker.subscribe(FOLLOWED, id="q", to=tmp_path / "out")

    broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2), doc("<b>1</b>", 3)])

    files = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert files == ["0000000001-q-b2.xml", "0000000002-q-b3.xml"]


# -- time


def test_documents_without_timestamps_follow_each_other_as_they_come() -> None:
    broker = Broker(clock=lambda: 5)
    broker.subscribe(FOLLOWED, id="q")

    assert len(broker.publish(["<a>1</a>", "<b>1</b>"])) == 1


def test_documents_without_timestamps_come_after_those_whose_time_is_ahead_of_the_clock() -> None:
    broker = Broker(clock=lambda: 5)
    broker.subscribe(FOLLOWED, id="q")
    broker.publish(doc("<z/>", 3_600))

    assert len(broker.publish([doc("<a>1</a>"), doc("<b>1</b>")])) == 1
    assert broker.late == 0


def test_equal_timestamps_join_but_do_not_follow() -> None:
    broker = broker_with({"followed": FOLLOWED, "joined": JOINED})

    assert joined(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 1)])) == ["joined a1 b1"]


@pytest.mark.parametrize(("at", "number"), [(11, 1), (11.001, 0)])
def test_the_end_of_a_window_is_in_it(at: float, number: int) -> None:
    broker = broker_with({"q": "S//a->x FOLLOWED BY{x = y, 10 seconds} S//b->y"})

    assert len(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", at)])) == number


def test_a_window_of_documents_counts_those_between() -> None:
    broker = broker_with({"q": "S//a->x FOLLOWED BY{x = y, 2 documents} S//b->y"})

    messages = broker.publish(
        [doc("<a>1</a>", 1), doc("<z/>", 2, stream="T"), *(doc("<b>1</b>", at) for at in (3, 4, 5))]
    )

    assert joined(messages) == ["q a1 b3", "q a1 b4"]


def test_a_late_document_is_counted_and_not_joined_but_other_languages_see_it() -> None:
    broker = broker_with({"q": JOINED})
    broker.subscribe("/b", id="path")

    messages = broker.publish([doc("<a>1</a>", 10), doc("<b>1</b>", 9)])

    assert [message.subscription for message in messages] == ["path"]
    assert broker.late == 1


def test_with_lateness_messages_wait_for_documents_that_come_late() -> None:
    broker = broker_with({"q": FOLLOWED}, lateness=5)

    waiting = broker.publish([doc("<b>1</b>", 10), doc("<a>1</a>", 9)])
    ripe = broker.publish(doc("<z/>", 15))

    assert (list(waiting), joined(ripe), broker.late) == ([], ["q a9 b10"], 0)


def test_what_comes_later_than_the_lateness_allows_is_counted() -> None:
    broker = broker_with({"q": FOLLOWED}, lateness=5)

    broker.publish([doc("<b>1</b>", 10), doc("<a>1</a>", 4.9), doc("<a>1</a>", 5)])

    assert (joined(broker.advance()), broker.late) == (["q a5 b10"], 1)


@pytest.mark.parametrize("lateness", [-1, nan, float("inf")])
def test_a_lateness_is_a_number_of_seconds(lateness: float) -> None:
    with pytest.raises(ConfigurationError, match="lateness"):
        Broker(lateness=lateness)


def test_a_timestamp_that_is_no_number_does_not_stop_the_others() -> None:
    broker = broker_with({"q": FOLLOWED})
    broker.publish(doc("<a>1</a>", 1))

    with suppress(weft.WeftError):
        broker.publish(doc("<a>2</a>", nan, "nowhen"))

    assert joined(broker.publish(doc("<b>1</b>", 3))) == ["q a1 b3"]


# -- absence


def test_an_absence_comes_when_its_window_has_closed_and_only_where_nothing_followed() -> None:
    broker = broker_with({"q": ABSENT})
    broker.publish([doc("<a>1</a>", 1), doc("<a>2</a>", 2), doc("<b>2</b>", 3)])

    at_the_end = broker.publish(doc("<z/>", 11))
    behind_it = broker.publish(doc("<z/>", 12))

    assert at_the_end == [], "a document at 11 could still follow"
    assert behind_it == [Message("q", "a1", ("<a>1</a>",), ("a1",))]


def test_advance_closes_windows_without_documents() -> None:
    broker = broker_with({"q": ABSENT})
    broker.publish([doc("<a>1</a>", 1), doc("<a>2</a>", 5)])

    assert joined(broker.advance(12)) == ["q a1"]
    assert joined(broker.advance()) == ["q a5"]
    assert broker.advance() == []


def test_advance_delivers_to_destinations() -> None:
    received: list[Message] = []
    broker = Broker()
    broker.subscribe(ABSENT, id="q", to=received.append)
    broker.publish(doc("<a>1</a>", 1))

    assert broker.advance() == received
    assert len(received) == 1


def test_an_absence_in_documents_comes_with_the_last_document_of_its_window() -> None:
    broker = broker_with({"q": "S//a->x NOT FOLLOWED BY{x = y, 2 documents} S//b->y"})
    broker.publish(doc("<a>1</a>", 1))

    assert [joined(broker.publish(doc("<z/>", at))) for at in (2, 3, 4)] == [[], ["q a1"], []]


def test_a_document_before_the_time_that_advance_told_is_late() -> None:
    broker = broker_with({"q": FOLLOWED})
    broker.advance(10)

    broker.publish([doc("<a>1</a>", 9), doc("<a>1</a>", 10)])

    assert broker.late == 1
    assert joined(broker.publish(doc("<b>1</b>", 11))) == ["q a10 b11"]


def test_behind_the_end_of_the_stream_every_document_is_late() -> None:
    broker = broker_with({"q": FOLLOWED})
    broker.advance()

    assert broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>")]) == []
    assert broker.late == 2


# -- documents go


def test_values_are_known_again_when_others_are_forgotten() -> None:
    broker = broker_with({"q": "S/a->x FOLLOWED BY{x = y, 1 second} S/b->y"})
    pairs = [(f"<a>{number % 70}</a>", f"<b>{number % 70}</b>") for number in range(140)]

    documents = [doc(text, float(at)) for at, text in enumerate(text for pair in pairs for text in pair)]

    with patch.object(joins, "_OFTEN", 4), patch.object(witness, "_SWEEP", 20), patch.object(state, "_SWEEP", 2):
        assert sum(len(broker.publish(document)) for document in documents) == len(pairs)
    assert len(broker._matcher.joins.stage.values.texts) < 40


def test_a_chain_of_windows_in_documents_and_in_time_holds_what_it_can_still_reach() -> None:
    broker = broker_with({"q": "S/a->x FOLLOWED BY{x = y, 1 document} S/b->y FOLLOWED BY{y = z, 2 seconds} S/c->z"})
    broker.publish([doc("<a>1</a>", 0), doc("<b>1</b>", 10)])

    broker.publish([doc("<z/>", 10.5, stream="T") for _ in range(600)])

    assert joined(broker.publish(doc("<c>1</c>", 11))) == ["q a0 b10 c11"]


def test_documents_that_no_window_can_reach_are_let_go() -> None:
    broker = broker_with({"q": "S/a->x FOLLOWED BY{x = y, 10 seconds} S/b->y"})

    for start in range(0, 3_000, 100):
        broker.publish([doc(f"<a>{at}</a>", float(at)) for at in range(start, start + 100)])

    held = int(broker.explain().split("state: ")[1].split()[0])
    assert held < 1_000


# -- subscriptions come and go


def test_a_new_query_sees_documents_from_now_on_and_from_state_those_that_are_held() -> None:
    broker = broker_with({"old": FOLLOWED})
    broker.publish(doc("<a>1</a>", 1))
    broker.subscribe(FOLLOWED, id="new")
    broker.subscribe(FOLLOWED, id="from state", from_state=True)

    assert joined(broker.publish(doc("<b>1</b>", 2))) == ["old a1 b2", "from state a1 b2"]


def test_from_state_reads_held_documents_for_variables_that_nobody_asked_for_before() -> None:
    broker = broker_with({"old": FOLLOWED})
    broker.publish(doc("<r><a>1</a><c>1</c></r>", 1))
    broker.subscribe("S//c->x FOLLOWED BY{x = y, infinite} S//b->y", id="new", from_state=True)

    assert joined(broker.publish(doc("<b>1</b>", 2))) == ["old r1 b2", "new r1 b2"]


def test_from_state_sees_documents_that_wait_for_their_turn() -> None:
    broker = broker_with({"old": FOLLOWED}, lateness=10)
    broker.publish([doc("<c>1</c>", 1), doc("<d>1</d>", 2)])

    broker.subscribe("S//c->x FOLLOWED BY{x = y, infinite} S//d->y", id="new", from_state=True)

    assert joined(broker.advance()) == ["new c1 d2"]


def test_a_new_query_may_compare_what_was_only_shown_before() -> None:
    broker = broker_with({"old": "S//a->x[k->k] FOLLOWED BY{k = l, infinite} S//b->y[k->l]"})
    broker.publish(doc("<a>1<k>7</k></a>", 1))
    broker.subscribe("S//a->x[k->k] FOLLOWED BY{k = l AND x < y, infinite} S//b->y[k->l]", id="new")

    first = broker.publish(doc("<b>2<k>8</k><k>7</k></b>", 2))
    second = broker.publish([doc("<a>1<k>7</k></a>", 3), doc("<b>2<k>7</k></b>", 4)])

    assert joined(first) == ["old a1 b2"]
    assert "new a3 b4" in joined(second)
    assert "new a1 b4" not in joined(second)


def test_a_new_query_does_not_see_documents_that_came_before_it_and_wait() -> None:
    broker = broker_with({"old": FOLLOWED}, lateness=10)
    broker.publish(doc("<a>1</a>", 1))
    broker.subscribe(FOLLOWED, id="new")
    broker.publish(doc("<b>1</b>", 2))

    assert joined(broker.advance()) == ["old a1 b2"]


def test_who_unsubscribes_gets_nothing_more_and_the_others_go_on() -> None:
    broker = broker_with({"stays": FOLLOWED, "goes": FOLLOWED, "absence": ABSENT})
    broker.publish(doc("<a>1</a>", 1))

    broker.unsubscribe("goes")
    broker.unsubscribe("absence")

    assert joined(broker.publish(doc("<b>1</b>", 20))) == ["stays a1 b20"]
    assert broker.advance() == []


def test_who_comes_back_begins_anew() -> None:
    broker = broker_with({"q": FOLLOWED, "absence": ABSENT})
    broker.publish(doc("<a>1</a>", 1))
    for id, query in {"q": FOLLOWED, "absence": ABSENT}.items():
        broker.unsubscribe(id)
        broker.subscribe(query, id=id)

    assert broker.publish(doc("<b>1</b>", 20)) == []
    assert broker.advance() == []


def test_a_destination_may_unsubscribe_while_documents_flow() -> None:
    broker = Broker()
    broker.subscribe(FOLLOWED, id="once", to=lambda message: broker.unsubscribe(message.subscription))

    messages = [broker.publish(document) for document in (doc("<a>1</a>", 1), doc("<b>1</b>", 2), doc("<b>1</b>", 3))]

    assert [len(some) for some in messages] == [0, 1, 0]
    assert "once" not in broker


def test_a_bad_query_never_enters() -> None:
    broker = broker_with({"good": FOLLOWED})

    with pytest.raises(QueryError, match="expected a comma and a window"):
        broker.subscribe("S//a->x JOIN{x = y} S//b->y", id="bad")

    assert "bad" not in broker
    assert joined(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2)])) == ["good a1 b2"]


# -- cascades

MADE = "SELECT <t>{ $x/text() }</t> FROM S//a->x FOLLOWED BY{x = y, infinite} S//b->y PUBLISH T"


def test_published_messages_are_documents_of_their_stream_for_every_language() -> None:
    broker = broker_with({"made": MADE, "stream": "T", "joins": "S//c->x FOLLOWED BY{x = y, infinite} T/t->y"})
    broker.subscribe("/t/text()", id="path")
    broker.subscribe("<o>{ for $t in stream('T')/t return $t }</o>", id="flwr")
    broker.subscribe("<o>{ for $t in stream('S')/t return $t }</o>", id="other stream")

    messages = broker.publish([doc("<c>1</c>", 1), doc("<a>1</a>", 2), doc("<b>1</b>", 3)])

    assert {message.subscription: message.text for message in messages} == {
        "made": "<t>1</t>",
        "stream": "<t>1</t>",
        "joins": "<result><c>1</c><t>1</t></result>",
        "path": "1",
        "flwr": "<o><t>1</t></o>",
    }
    assert {message.document for message in messages} == {"b3", "T-1"}


def test_a_published_document_is_of_the_time_of_its_latest_document() -> None:
    broker = broker_with({"made": MADE, "later": "T/t->x FOLLOWED BY{x = y, 5 seconds} S//d->y"})

    messages = broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 10), doc("<d>1</d>", 15), doc("<d>1</d>", 16)])

    assert joined(messages) == ["made a1 b10", "later T-1 d15"]


def test_an_absence_is_published_at_the_moment_its_window_closes() -> None:
    queries = {"absent": f"{ABSENT} PUBLISH T", "later": "T/a->x FOLLOWED BY{x = y, 2 seconds} S//d->y"}
    broker = broker_with(queries)

    messages = broker.publish([doc("<a>1</a>", 1), doc("<d>1</d>", 13), doc("<d>1</d>", 14)])

    assert joined(messages) == ["absent a1", "later T-1 d13"]


def test_an_absence_in_documents_is_published_when_its_window_closes() -> None:
    absent = "S//a->x NOT FOLLOWED BY{x = y, 2 documents} S//b->y PUBLISH T"
    broker = broker_with({"absent": absent, "before": "S//c->x FOLLOWED BY{x = y, infinite} T/a->y"})

    messages = broker.publish([doc("<a>1</a>", 1), doc("<c>1</c>", 2), doc("<z/>", 3), doc("<z/>", 4)])

    assert joined(messages) == ["absent a1", "before c2 T-1"]


def test_cascades_go_on_over_several_streams() -> None:
    broker = broker_with({"1": "S/a PUBLISH T", "2": "T/a PUBLISH U", "3": "U/a"})

    assert joined(broker.publish(doc("<a/>", 1))) == ["1 a1", "2 T-1", "3 U-2"]


@pytest.mark.parametrize(
    ("query", "way"),
    [
        ("T/a PUBLISH S", "S <- T <- S"),
        ("S/a PUBLISH S", "S <- S"),
        ("/a PUBLISH U", "U <- every stream"),
        ("U/a->x JOIN{x = y, 1 day} T/b->y PUBLISH S", "S <- T <- S"),
    ],
)
def test_a_circle_is_refused_and_the_broker_is_as_it_was(query: str, way: str) -> None:
    broker = broker_with({"1": "S/a PUBLISH T", "2": "T/a"})

    with pytest.raises(ConfigurationError, match=f"expected no query to read its own messages, found {way}"):
        broker.subscribe(query, id="circle", language="xscl")

    assert "circle" not in broker
    assert joined(broker.publish(doc("<a/>", 1))) == ["1 a1", "2 T-1"]
    broker.subscribe("U/a PUBLISH S", language="xscl")


def test_a_circle_is_none_once_its_other_half_is_gone() -> None:
    broker = broker_with({"1": "S/a PUBLISH T"})
    broker.unsubscribe("1")

    broker.subscribe("T/a PUBLISH S", id="2", language="xscl")

    assert joined(broker.publish(doc("<a/>", 1, stream="T"))) == ["2 a1"]


# -- documents that cannot be read


def test_rejected_documents_do_not_disturb_the_others() -> None:
    broker = broker_with({"q": "S//a->x FOLLOWED BY{x = y, 1 document} S//b->y"})

    messages = broker.publish([doc("<a>1</a>", 1), doc("<a>", 2, "torn"), doc("<b>1</b>", 3)])

    assert joined(messages) == ["q a1 b3"]
    assert [error.document for error in broker.rejected] == ["torn"]
    assert broker.late == 0


def test_encodings_and_entities_do_not_matter() -> None:
    broker = broker_with({"q": FOLLOWED})
    latin = "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".encode("latin-1")

    messages = broker.publish(
        [Document(latin, "l", "S", 1), doc("<!DOCTYPE b [<!ENTITY e 'é'>]><b>&e;</b>", 2, "entity")]
    )

    assert [message.text for message in messages] == ["<result><a>é</a><b>é</b></result>"]


# -- checkpoints

QUERIES = {"q": FOLLOWED, "absence": ABSENT, "made": MADE, "t": "T//t"}


def test_a_restart_goes_on_where_the_checkpoint_was(tmp_path: Path) -> None:
    documents = [doc("<a>1</a>", 1), doc("<a>é</a>", 2), doc("<b>1</b>", 4), doc("<b>é</b>", 14), doc("<z/>", 30)]
    whole = broker_with(QUERIES, lateness=2)
    expected = [joined(whole.publish(document)) for document in documents] + [joined(whole.advance())]

    for at in range(len(documents) + 1):
        before = broker_with(QUERIES, lateness=2)
        got = [joined(before.publish(document)) for document in documents[:at]]
        before.checkpoint(tmp_path / "state", {"next": at})
        after = broker_with(QUERIES, lateness=2)
        position = after.restore(tmp_path / "state")
        got += [joined(after.publish(document)) for document in documents[position["next"] :]]
        assert [*got, joined(after.advance())] == expected


def test_late_documents_are_late_after_a_restart_too(tmp_path: Path) -> None:
    broker = broker_with(QUERIES)
    broker.publish([doc("<a>1</a>", 5), doc("<b>1</b>", 4)])
    broker.checkpoint(tmp_path / "state")
    again = broker_with(QUERIES)

    assert again.restore(tmp_path / "state") is None
    again.publish(doc("<b>1</b>", 3))

    assert again.late == 2


def test_changed_subscriptions_go_on_as_far_as_they_are_the_same(tmp_path: Path) -> None:
    broker = broker_with({"q": FOLLOWED, "gone": FOLLOWED, "absence": ABSENT})
    broker.publish(doc("<a>1</a>", 1))
    broker.checkpoint(tmp_path / "state")
    again = broker_with({"new": FOLLOWED, "q": FOLLOWED})
    again.subscribe("/b", id="path")

    again.restore(tmp_path / "state")

    assert sorted(joined(again.publish(doc("<b>1</b>", 2)))) == ["path", "q a1 b2"]
    assert again.advance() == []


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"5\n", b"[]\n", b"{}\n", b"<a/>", b'{"format": 1}\n', b"weft joins 3\n", b"\xff\x00\xfe"]
)
def test_a_wrong_file_is_refused_and_changes_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wrong").write_bytes(content)
    broker = broker_with({"q": FOLLOWED})

    with pytest.raises(ConfigurationError, match="wrong"):
        broker.restore(tmp_path / "wrong")

    assert joined(broker.publish([doc("<a>1</a>", 1), doc("<b>1</b>", 2)])) == ["q a1 b2"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        Broker().restore(tmp_path / "nowhere")


def test_a_file_that_was_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    broker = broker_with(QUERIES, lateness=1)
    broker.publish([doc("<a>1</a>", 1), doc("<a>é</a>", 2), doc("<a>3</a>", 3)])
    broker.checkpoint(tmp_path / "state")
    content = (tmp_path / "state").read_bytes()
    again = broker_with(QUERIES, lateness=1)

    for size in range(0, len(content), 7):
        (tmp_path / "cut").write_bytes(content[:size])
        with pytest.raises(ConfigurationError, match="cut"):
            again.restore(tmp_path / "cut")

    again.restore(tmp_path / "state")
    assert "q a1 b4" in joined(again.publish([doc("<b>1</b>", 4), doc("<z/>", 6)]))


@pytest.mark.parametrize("lateness", [0, 100])
def test_a_broker_that_has_documents_is_not_restored(tmp_path: Path, lateness: float) -> None:
    broker = broker_with({"q": FOLLOWED}, lateness=lateness)
    broker.publish(doc("<a>1</a>", 1))
    broker.checkpoint(tmp_path / "state")

    with pytest.raises(ConfigurationError, match="expected joins that no document has come to"):
        broker.restore(tmp_path / "state")


def test_stricter_limits_than_the_checkpoint_s_are_told(tmp_path: Path) -> None:
    broker = broker_with({"q": FOLLOWED})
    broker.publish([doc(f"<a>{'1' * 100}</a>", 1), doc("<a>1</a>", 2)])
    broker.checkpoint(tmp_path / "state")
    small = Broker(limits=weft.Limits(max_bytes=50))
    small.subscribe(FOLLOWED, id="q")

    with pytest.raises(ConfigurationError, match="breaks the limits"):
        small.restore(tmp_path / "state")


def test_a_position_that_is_no_json_leaves_the_last_checkpoint_alone(tmp_path: Path) -> None:
    broker = broker_with({"q": FOLLOWED})
    broker.checkpoint(tmp_path / "state", 1)

    with pytest.raises((TypeError, ConfigurationError)):
        broker.checkpoint(tmp_path / "state", {2, 3})

    assert broker_with({"q": FOLLOWED}).restore(tmp_path / "state") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


# -- threads


def test_two_threads_publish_and_every_pair_is_found_once() -> None:
    received: list[Message] = []
    broker = Broker()
    broker.subscribe(JOINED, id="q", to=received.append)

    def publish(name: str) -> None:
        for number in range(100):
            broker.publish(Document(f"<{name}>{number}</{name}>", f"{name}{number}", "S"))

    threads = [threading.Thread(target=publish, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(joined(received)) == sorted(f"q a{number} b{number}" for number in range(100))
    assert broker.late == 0


# -- explain


def test_explain_tells_what_joins_share_and_hold() -> None:
    broker = broker_with({"1": FOLLOWED, "2": FOLLOWED, "3": ABSENT, "4": JOINED})
    broker.publish([doc("<a>1</a>", 5), doc("<b>1</b>", 4)])

    told = broker.explain()

    assert "joins: 4 subscriptions, 3 distinct joins" in told
    assert "state: 1 document, 1 posting, 1 open window, 1 late document" in told


def test_explain_tells_the_blocks_the_predicates_and_the_window_of_a_query() -> None:
    broker = broker_with({"1": "S//a->x[@k->k] FOLLOWED BY{k = l AND x < y, 5 documents} T//b->y[@k->l]", "2": JOINED})

    lines = broker.explain("1").splitlines()

    assert "block 1 over S" in lines
    assert "FOLLOWED BY within 5 documents" in lines
    assert "  $k = $l" in lines
    assert "  $x < $y" in lines
    assert "  begins when a document of block 2 comes: 1 predicate, exact where each variable has one node" in lines
    assert "  join: the same for 1 subscription" in lines
    assert broker.explain("2").count("begins when a document of block") == 2


def test_the_graph_of_a_join_has_its_blocks() -> None:
    broker = broker_with({"1": FOLLOWED})

    assert 'label="block 2 over S"' in broker.explain_graph("1")
    assert "<svg" in broker.explain_graph("1", "svg")
