"""Destinations: a function, a folder, standard output; in the order of publication, and as a whole or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from weft import Broker, ConfigurationError, Document, Message
from weft.broker.destinations import Folder, destination
from weft.reference.pathsharing.approaches import Approach

FLWR = "<r>{ for $a in //a return <i>{ $a/@k }</i> }</r>"


def files(folder: Path) -> list[str]:
    """What is in a folder, also what is hidden."""
    return sorted(path.name for path in folder.iterdir())


def message(document: str = "d", text: str = "<a/>", subscription: str = "s") -> Message:
    return Message(subscription, document, (text,))


# -- functions


def test_a_function_is_called_with_each_message() -> None:
    received: list[Message] = []
    broker = Broker()
    broker.subscribe(FLWR, id="flwr", to=received.append)
    broker.subscribe("//a/@k", id="xpath", to=received.append)

    returned = broker.publish(Document('<x><a k="1"/><a k="2"/></x>', id="d"))

    assert received == returned
    assert received == [
        Message("flwr", "d", ('<r><i k="1"></i><i k="2"></i></r>',)),
        Message("xpath", "d", ('k="1"', 'k="2"')),
    ]


def test_without_a_destination_messages_only_come_back() -> None:
    broker = Broker()
    broker.subscribe(FLWR)

    assert len(broker.publish("<a/>")) == 1
    assert destination(None) is None


def test_a_destination_that_fails_disturbs_no_other() -> None:
    received: list[Message] = []
    broker = Broker()

    def fails(_: Message) -> None:
        raise OSError("no room")

    broker.subscribe(FLWR, id="fails", to=fails)
    broker.subscribe(FLWR, id="works", to=received.append)

    broker.publish([Document("<a/>", id="1"), Document("<a/>", id="2")])

    assert [(each.message.subscription, each.message.document) for each in broker.undelivered] == [
        ("fails", "1"),
        ("fails", "2"),
    ]
    assert {str(each.error) for each in broker.undelivered} == {"no room"}
    assert [each.document for each in received] == ["1", "2"]


# -- folders


def test_a_folder_gets_one_file_a_message_with_its_text(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    broker = Broker()
    broker.subscribe("//a/@k", id="s", to=folder)

    broker.publish(
        [Document('<x><a k="1"/><a k="é"/></x>', id="d"), Document("<x/>", id="e"), Document("<a k=''/>", id="f")]
    )

    assert files(folder) == ["0000000001-s-d.xml", "0000000002-s-f.xml"]
    assert (folder / "0000000001-s-d.xml").read_text(encoding="utf-8") == 'k="1"\nk="é"\n'


def test_a_folder_may_be_named_by_a_text(tmp_path: Path) -> None:
    broker = Broker()
    broker.subscribe("//a", id="s", to=str(tmp_path))

    broker.publish(Document("<a/>", id="d"))

    assert files(tmp_path) == ["0000000001-s-d.xml"]


def test_names_sort_in_the_order_of_delivery(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    written = [folder(message(f"d{number}")) for number in (9, 1, 5, 10, *range(100, 110))]

    assert files(tmp_path) == [path.name for path in written]


def test_numbers_go_on_behind_what_an_earlier_run_has_left(tmp_path: Path) -> None:
    (tmp_path / "0000000041-s-old.xml").write_text("old")
    (tmp_path / "notes-0000000099.txt").write_text("not a message")

    Folder(tmp_path)(message("new"))
    Folder(tmp_path)(message("newer"))

    assert files(tmp_path)[:3] == ["0000000041-s-old.xml", "0000000042-s-new.xml", "0000000043-s-newer.xml"]
    assert (tmp_path / "0000000041-s-old.xml").read_text() == "old"


def test_a_broker_that_starts_again_overwrites_nothing(tmp_path: Path) -> None:
    for text in ("<a>1</a>", "<a>2</a>"):
        broker = Broker()
        broker.subscribe("//a/text()", id="s", to=tmp_path)
        broker.publish(Document(text, id="d"))

    assert [(tmp_path / name).read_text() for name in files(tmp_path)] == ["1\n", "2\n"]


@pytest.mark.parametrize(
    ("subscription", "document", "name"),
    [
        ("a/b", "../../c", "0000000001-a%2Fb-..%2F..%2Fc.xml"),
        ("a b", "é\n", "0000000001-a%20b-%C3%A9%0A.xml"),
        ("%2F", "a:b\\c?*", "0000000001-%252F-a%3Ab%5Cc%3F%2A.xml"),
        ("s", "x" * 300, f"0000000001-s-{'x' * 80}.xml"),
        (".", "..", "0000000001-.-...xml"),
        ("http://x/y?z=1#f", "", "0000000001-http%3A%2F%2Fx%2Fy%3Fz%3D1%23f-.xml"),
    ],
)
def test_odd_ids_make_names_that_stay_in_the_folder(
    tmp_path: Path, subscription: str, document: str, name: str
) -> None:
    written = Folder(tmp_path)(message(document, "<a/>", subscription))

    assert files(tmp_path) == [name]
    assert written == tmp_path / name


def test_ids_that_are_alike_for_eighty_characters_have_files_of_their_own(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    for number in range(3):
        folder(message("x" * 200 + str(number), str(number)))

    assert [(tmp_path / name).read_text() for name in files(tmp_path)] == ["0\n", "1\n", "2\n"]


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], str]] = []
    replace = Path.replace

    def watched(source: Path, target: Path) -> Path:
        seen.append(([name for name in files(tmp_path) if name.endswith(".xml")], source.read_text()))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", watched)
    Folder(tmp_path)(message("d", "<long/>" * 10_000))

    assert seen == [([], "<long/>" * 10_000 + "\n")]  # whole before it has its name
    assert files(tmp_path) == ["0000000001-s-d.xml"]


def test_a_folder_that_cannot_be_made_leaves_the_message_undelivered(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    broker = Broker()
    broker.subscribe("//a", id="s", to=tmp_path / "file")

    broker.publish(Document("<a/>", id="d"))

    (failed,) = broker.undelivered
    assert failed.message.document == "d"
    assert isinstance(failed.error, OSError)


def test_names_sort_in_the_order_of_delivery_also_where_subscriptions_share_a_folder(tmp_path: Path) -> None:
    broker = Broker()
    for name in ("a", "b"):
        broker.subscribe("//a", id=name, to=tmp_path)

    delivered = broker.publish([Document("<a/>", id=str(number)) for number in range(3)])

    expected = [f"{each.subscription}-{each.document}.xml" for each in delivered]
    assert [name.partition("-")[2] for name in files(tmp_path)] == expected


# -- standard output


def test_a_dash_is_standard_output_with_a_line_for_each_node(capsys: pytest.CaptureFixture[str]) -> None:
    broker = Broker()
    broker.subscribe("//a/@k", to="-")
    broker.subscribe(FLWR, to="-")

    broker.publish('<x><a k="1"/><a k="2"/></x>')

    assert capsys.readouterr().out == 'k="1"\nk="2"\n<r><i k="1"></i><i k="2"></i></r>\n'


# -- what is no destination


@pytest.mark.parametrize("to", [3, ["folder"], b"folder", True])
def test_what_is_no_destination_is_refused_and_changes_nothing(to: object) -> None:
    broker = Broker()

    with pytest.raises(ConfigurationError, match="to: expected a function, a folder or '-', found"):
        broker.subscribe("//a", id="s", to=to)  # type: ignore[arg-type]

    assert "s" not in broker
    assert broker.matches("<a/>") == [[]]


# -- order


@pytest.mark.parametrize("approach", [None, "FWR"])
def test_messages_are_delivered_in_the_order_of_publication_then_of_subscription(approach: Approach | None) -> None:
    received: list[tuple[str, str]] = []
    broker = Broker(approach=approach)
    for name, text in {"z": FLWR, "a": "//a", "m": FLWR.replace("<i>", "<j>").replace("</i>", "</j>")}.items():
        broker.subscribe(text, id=name, to=lambda each: received.append((each.document, each.subscription)))
    ids = [str(number) for number in range(150)]  # more than are matched at once

    broker.publish([Document("<a/>", id=each) for each in ids])
    broker.publish(Document("<a/>", id="last"))

    assert received == [(document, subscription) for document in [*ids, "last"] for subscription in "zam"]


def test_each_publisher_is_heard_in_its_own_order_by_every_subscriber() -> None:
    received: dict[str, list[Message]] = {"s": [], "t": []}
    broker = Broker()
    for name, heard in received.items():
        broker.subscribe(FLWR, id=name, to=heard.append)

    def publish(who: str) -> None:
        for number in range(20):
            broker.publish([Document("<a/>", id=f"{who}{number:02}.{part}") for part in range(3)])

    publishers = [threading.Thread(target=publish, args=(who,)) for who in "xyz"]
    for publisher in publishers:
        publisher.start()
    for publisher in publishers:
        publisher.join()

    heard_by = {name: [message.document for message in heard] for name, heard in received.items()}
    assert heard_by["s"] == heard_by["t"]
    for who in "xyz":
        own = [document for document in heard_by["s"] if document.startswith(who)]
        assert own == sorted(own)
        assert len(own) == 60


def test_what_is_kept_of_a_failed_delivery_does_not_keep_its_batch_alive() -> None:
    broker = Broker()

    def fails(_: Message) -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise OSError("second") from error

    broker.subscribe("//a", to=fails)
    broker.publish("<a/>")

    error: BaseException | None = broker.undelivered[0].error
    seen = []
    while error is not None:
        seen.append((str(error), error.__traceback__))
        error = error.__context__
    assert seen == [("second", None), ("'first'", None)]
