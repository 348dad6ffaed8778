"""The demo's inbox and its subscriptions: the same every time, and there is something for everyone."""

import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

import weft
from weft.broker.subscriptions import Subscription

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PACS = {"p": "urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08"}
SUBSCRIPTIONS = weft.load_subscriptions(EXAMPLES / "demo.jsonl")


def make_inbox(output: Path, *options: str) -> Path:
    subprocess.run([sys.executable, EXAMPLES / "make_inbox.py", "--output", output, *options], check=True)
    return output


def contents(inbox: Path) -> dict[str, bytes]:
    return {str(file.relative_to(inbox)): file.read_bytes() for file in sorted(inbox.rglob("*")) if file.is_file()}


def members(file: Path) -> Iterator[tuple[str, bytes]]:
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            yield from ((f"/{name}", archive.read(name)) for name in archive.namelist())
    elif file.name.endswith(".tar.gz"):
        with tarfile.open(file) as archive:
            for member in archive:
                data = archive.extractfile(member)
                assert data is not None
                yield f"/{member.name}", data.read()
    else:
        yield "", file.read_bytes()


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_inbox(tmp_path_factory.mktemp("demo") / "inbox")


@pytest.fixture(scope="module")
def documents(inbox: Path) -> list[weft.Document]:
    return [
        weft.Document(data, f"{file.relative_to(inbox)}{name}", file.parent.name)
        for file in sorted(inbox.glob("*/*"))
        for name, data in members(file)
    ]


@pytest.fixture(scope="module")
def broker(documents: list[weft.Document]) -> tuple[weft.Broker, Counter[str]]:
    broker = weft.Broker()
    for subscription in SUBSCRIPTIONS:
        broker.subscribe(replace(subscription, to=None))
    return broker, Counter(message.subscription for message in broker.publish(documents))


def readable(documents: list[weft.Document], broker: weft.Broker, stream: str) -> Iterator[tuple[str, etree._Element]]:
    rejected = {error.document for error in broker.rejected}
    for document in documents:
        if document.stream == stream and document.id not in rejected:
            assert isinstance(document.data, bytes)
            yield document.id, etree.fromstring(document.data)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_gives_others(tmp_path: Path, inbox: Path) -> None:
    again = make_inbox(tmp_path / "again")
    other = make_inbox(tmp_path / "other", "--seed", "7")

    assert contents(again) == contents(inbox)
    assert contents(other) != contents(inbox)
    assert set(contents(other)) == set(contents(inbox)), "a new inbox leaves nothing of an old one"


def test_the_inbox_has_news_payments_and_feeds_in_files_and_archives(documents: list[weft.Document]) -> None:
    archived = Counter(document.id.rpartition("/")[0] for document in documents)

    assert Counter(document.stream for document in documents) == {"news": 180, "payments": 120, "feeds": 80}
    assert archived["payments/2026-03-03.zip"] == 40
    assert archived["feeds/week-09.tar.gz"] == 20


@pytest.mark.parametrize("subscription", SUBSCRIPTIONS, ids=lambda subscription: subscription.id)
def test_every_subscription_of_the_demo_has_a_destination_and_delivers_a_few_messages(
    subscription: Subscription, broker: tuple[weft.Broker, Counter[str]]
) -> None:
    _, messages = broker

    assert subscription.to
    assert 1 <= messages[subscription.id] <= 20


def test_three_documents_of_the_inbox_are_rejected_each_for_a_reason_of_its_own(
    broker: tuple[weft.Broker, Counter[str]],
) -> None:
    reasons = {error.document.split("/")[0]: error.reason for error in broker[0].rejected}

    assert len(broker[0].rejected) == 3
    assert reasons == {
        "news": "unclosed token",
        "payments": "mismatched tag",
        "feeds": "not well-formed (invalid token)",
    }


def test_the_news_of_the_inbox_are_valid(
    documents: list[weft.Document], broker: tuple[weft.Broker, Counter[str]]
) -> None:
    dtd = etree.DTD(str(ROOT / "src/weft/workload/dtds/news.dtd"))

    invalid = [id for id, item in readable(documents, broker[0], "news") if not dtd.validate(item)]

    assert invalid == []


def test_the_payments_of_the_inbox_add_up_and_settle_earlier_ones(
    documents: list[weft.Document], broker: tuple[weft.Broker, Counter[str]]
) -> None:
    invoices: Counter[str] = Counter()

    for _, payment in readable(documents, broker[0], "payments"):
        amounts = [round(float(amount.text or 0) * 100) for amount in payment.iterfind(".//p:IntrBkSttlmAmt", PACS)]
        total = payment.findtext(".//p:TtlIntrBkSttlmAmt", None, PACS)
        assert int(payment.findtext(".//p:NbOfTxs", "", PACS)) == len(amounts)
        assert total is None or round(float(total) * 100) == sum(amounts)
        references = (id.text or "" for id in payment.iterfind(".//p:EndToEndId", PACS))
        invoices.update(reference for reference in references if reference.startswith("INV-"))

    assert sum(number > 1 for number in invoices.values()) >= 15
