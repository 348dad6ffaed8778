"""Documents that once cost far more than they are long: each does so no more, or is rejected as soon as it can be."""

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from weft import Broker
from weft.documents import Document, Fragments, Limits, NodeTable
from weft.documents.build import build
from weft.documents.scan import scan, scan_paths
from weft.errors import DocumentError
from weft.inputs.rows import cut_rows, read_rows
from worst_documents import distinct_names, paths_that_collide

LIMITS = Limits()
DOCTYPE = b"<!DOCTYPE r [<!ENTITY e 'x'>]>"
MEGABYTE = 1024 * 1024


def read(document: bytes, limits: Limits = LIMITS, compiled: bool = True) -> NodeTable:
    return build(scan([Document(document, "it")], limits, compiled=compiled))


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the least of two runs."""
    times = []
    for _ in range(2):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def attributes(number: int, form: bytes = b' a%d=""') -> bytes:
    return b"".join(form % at for at in range(number))


# -- names and paths, whatever they are


@pytest.mark.timed
def test_paths_that_are_chosen_to_collide_cost_no_more_than_others() -> None:
    def a_path(document: bytes) -> float:
        def scan_alone() -> None:
            paths.append(len(scan_paths([Document(document, "it")], LIMITS, attributes=False, texts=False).paths))

        paths: list[int] = []
        with ThreadPoolExecutor(1) as fresh:  # threads know the names and paths that they have seen
            took = fresh.submit(lambda: seconds(scan_alone)).result()
        return took / paths[0]

    chosen, others = paths_that_collide(MEGABYTE), distinct_names(MEGABYTE)
    a_path(others)

    assert a_path(chosen) < 3 * a_path(others)


# -- limits are kept while scanning

DEEP = b"<r>" + b'<b xmlns:b="u">' * 150_000
BROKEN = b"</z>"
FAR = b"<a/>" * 200_000
BEYOND = {
    "nested deeper than 1000": DEEP,
    "an element with 1001 attributes, more than 1000": b"<r><a" + attributes(1_001) + b"/>" + FAR,
    "an element with 1002 attributes, more than 1000": b"<r><a a='' b=''"
    + attributes(1_000, b' xmlns:p%d="u"')
    + b"/>"
    + FAR,
    "more than 1000 nodes": b"<r>" + b"x<a/>" * 700 + FAR,
    "a namespace name of 1025 bytes, more than 1024": b"<r><a xmlns='%b'/>" % (b"u" * 1_025) + FAR,
}


@pytest.mark.timed
@pytest.mark.parametrize("head", [b"", DOCTYPE], ids=["plain", "DOCTYPE"])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("reason", BEYOND)
def test_a_document_that_breaks_a_limit_is_not_read_to_its_end(reason: str, compiled: bool, head: bytes) -> None:
    document = head + BEYOND[reason] + BROKEN
    limits = Limits(max_nodes=1_000) if "nodes" in reason else LIMITS

    (error,) = read(document, limits, compiled).rejected

    assert error.reason == reason  # and not that it is broken
    assert seconds(lambda: read(document, limits, compiled)) < 2


@pytest.mark.parametrize("compiled", [True, False])
def test_declarations_are_attributes_and_nodes(compiled: bool) -> None:
    document = b'<r xmlns="u" xmlns:p="v" a=""><p:b xmlns="" c=""/></r>'

    assert not read(document, Limits(max_attributes=3, max_nodes=7), compiled).rejected
    assert "3 attributes" in read(document, Limits(max_attributes=2), compiled).rejected[0].reason
    assert "6 nodes" in read(document, Limits(max_nodes=6), compiled).rejected[0].reason


def test_comments_are_no_nodes_however_many_there_are() -> None:
    document = b"<r>" + b"<!-- c -->" * 100_000 + "<?é?>x".encode() + b"<!---->" * 100_000 + b"</r>"

    table = read(document, Limits(max_nodes=2))

    assert (list(table.texts), table.rejected) == (["x"], ())


def test_a_document_that_is_too_large_is_not_decoded() -> None:
    document = "<a/>".encode("utf-16") + b" \0" * 8 * MEGABYTE

    used = peak(lambda: read(document, Limits(max_bytes=MEGABYTE)))

    assert used < MEGABYTE


# -- tags that expat would blow up


@pytest.mark.parametrize("head", [b"", DOCTYPE, b"<!--\xc3\xa9-->"], ids=["plain", "DOCTYPE", "not plain"])
@pytest.mark.parametrize("quote", [b'"', b"'"])
def test_a_long_namespace_name_is_not_written_out_for_each_of_very_many_attributes(head: bytes, quote: bytes) -> None:
    uri = quote + b"u" * 200_000 + quote
    document = head + b"<r xmlns:p = " + uri + attributes(999, b' p:a%d=""') + b"/>"

    (error,) = read(document).rejected

    assert error.reason == "a namespace name of 200000 bytes, more than 1024"
    assert error.offset == len(head)


def test_very_many_attributes_are_counted_before_expat_expands_them() -> None:
    document = b'<r xmlns:p="%b"' % (b"u" * 1_000) + attributes(100_000, b' p:a%d=""') + b"/>"

    used = peak(lambda: read(document))  # expat's own memory is not traced, but its strings would be

    assert read(document).rejected[0].reason == "an element with 100001 attributes, more than 1000"
    assert used < 4 * MEGABYTE


@pytest.mark.parametrize(
    "harmless",
    [
        b"<r><!--<a" + attributes(1_500) + b"/>--></r>",
        b"<r><![CDATA[<a" + attributes(1_500) + b" xmlns='" + b"u" * 2_000 + b"'/>]]></r>",
        b"<r> xmlns='" + b"u" * 2_000 + b"' </r>",
        b"<r a=' xmlns=" + b"u" * 2_000 + b"'/>",
        b"<r a=' xmlns=\"" + b"u" * 2_000 + b"\"'/>",
        b"<r xmlns='" + b"&#117;" * 1_000 + b"'/>",
        b"<r>" + b"<a b=''/>" * 2_000 + b"</r>",
    ],
)
@pytest.mark.parametrize("head", [b"", DOCTYPE, b"<!--\xc3\xa9-->"], ids=["plain", "DOCTYPE", "not plain"])
def test_what_only_looks_like_too_much_is_read(harmless: bytes, head: bytes) -> None:
    assert not read(head + harmless).rejected


# -- rewriting


def test_spaces_in_a_tag_are_rewritten_in_little_memory() -> None:
    document = DOCTYPE + b"<r" + b" " * 4 * MEGABYTE + b"a='&e;'/>"

    used = peak(lambda: read(document))

    assert Fragments(read(document)).xml(0) == b'<r a="x"></r>'
    assert used < 32 * MEGABYTE  # the document, the copy that is scanned, and room for all that could be text or values


# -- fragments


def declared_on_the_root(number: int) -> bytes:
    children = b"".join(b"<p%d:a/>" % at for at in range(number))
    return b"<r" + attributes(number, b' xmlns:p%d="urn:u"') + b">" + children + b"</r>"


def test_fragments_come_to_no_more_than_what_they_use() -> None:
    document = declared_on_the_root(1_000)
    broker = Broker()
    broker.subscribe("/r/*")

    (message,) = broker.publish(document)

    assert len(message.nodes) == 1_000
    assert message.nodes[7] == '<p7:a xmlns:p7="urn:u"/>'
    assert sum(map(len, message.nodes)) < 2 * len(document)


@pytest.mark.timed
def test_fragments_are_made_in_time_that_grows_with_them() -> None:
    def work(number: int) -> Callable[[], object]:
        root = b"<r" + attributes(999, b' xmlns:p%d="u"') + b">"
        children = b"".join(b'<p%d:a xmlns:q="v"/>' % (at % 999) for at in range(number))
        table = read(root + children + b"</r>")
        return lambda: list(map(Fragments(table).xml, range(1, number)))

    assert seconds(work(10_000)) < 3 * seconds(work(5_000)) + 0.2


@pytest.mark.timed
def test_one_prefix_that_is_declared_again_and_again_is_found_at_once() -> None:
    chain = b"".join(b'<p:a xmlns:p="u%d">' % at for at in range(900)) + b"</p:a>" * 900
    document = b'<p:r xmlns:p="u">' + (chain + b"<p:b/>" * 900) * 30 + b"</p:r>"
    table = read(document)

    took = seconds(lambda: Fragments(table).xml(table.elements - 1))

    assert Fragments(table).xml(table.elements - 1) == b'<p:b xmlns:p="u"/>'
    assert took < 2


# -- rows


def rows_of(file: bytes, limits: Limits = LIMITS) -> list[tuple[int, bytes] | DocumentError]:
    return list(read_rows("file", [file], "item", limits))


def size_of(rows: Iterable[tuple[int, bytes] | DocumentError]) -> int:
    return sum(len(row[1]) for row in rows if isinstance(row, tuple))


def test_rows_come_to_no_more_than_what_they_use() -> None:
    file = (
        b"<r"
        + attributes(900, b' xmlns:p%d="urn:u"')
        + b">"
        + b"".join(b"<item><p%d:a/></item>" % (at % 900) for at in range(3_000))
    )

    rows = rows_of(file + b"</r>")

    assert rows[7] == (file.index(b"<item><p7:"), b'<item xmlns:p7="urn:u"><p7:a/></item>')
    assert size_of(rows) < 3 * len(file)


def test_an_entity_is_repeated_in_the_rows_that_refer_to_it_and_not_too_often() -> None:
    file = b"<!DOCTYPE r [<!ENTITY e '%b'>]><r>" % (b"x" * 60_000) + b"<item/><item>&e;</item>" * 1_000 + b"</r>"

    rows = rows_of(file)

    errors = [row for row in rows if isinstance(row, DocumentError)]
    assert len(rows) == 2_000
    assert {error.reason for error in errors} == {"declarations outside the rows are repeated in too many of them"}
    assert all(row[1] == b"<item/>" for row in rows[::2] if isinstance(row, tuple))
    assert size_of(rows) < 8 * MEGABYTE + 101 * len(file)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"<r><b xmlns:p='%b'/><item/></r>" % (b"u" * 2_000), "a namespace name of 2000 bytes, more than 1024"),
        (
            b"<r><b><item/></b><b xmlns:p='%b'/></r>" % (b"u" * 2_000),
            "a namespace name of 2000 bytes, more than 1024",
        ),
        (b"<r><b" + attributes(1_001) + b"/><item/></r>", "an element with 1001 attributes, more than 1000"),
        (b"<r>" + b"<b>" * 1_000 + b"<item/>", "nested deeper than 1000"),
        (
            b"<!DOCTYPE r [<!ENTITY e '%b'>]><r xmlns:p='&e;&e;&e;&e;'><item/></r>" % (b"u" * 500),
            "a namespace name of 2000 bytes, more than 1024",
        ),
        (
            b"<!DOCTYPE r [<!ATTLIST r xmlns:p CDATA '%b'>]><r><item/></r>" % (b"u" * 2_000),
            "a namespace name of 2000 bytes, more than 1024",
        ),
        (
            b"<!DOCTYPE r [<!ATTLIST r" + attributes(1_001, b" a%d CDATA ''") + b">]><r><item/></r>",
            "1001 attributes declared for <r>, more than 1000",
        ),
        (
            b"<!DOCTYPE r [<!ENTITY e0 ''>%b]><r>&e4000;<item/></r>"
            % b"".join(b"<!ENTITY e%d '&e%d;'>" % (at, at - 1) for at in range(1, 4_001)),
            "entities nested deeper than 1000",
        ),
    ],
)
def test_what_stands_outside_the_rows_keeps_the_limits_too(file: bytes, reason: str) -> None:
    *_, error = rows_of(file)

    assert isinstance(error, DocumentError)
    assert error.reason == reason
    assert len(cut_rows("file", [file], "item", 1)) <= 2


@pytest.mark.timed
def test_declarations_around_rows_cost_nothing_again_for_each_row() -> None:
    def work(number: int) -> Callable[[], object]:
        wrapped = b"<w xmlns:q='u'><item/></w>" * number
        file = b"<r" + attributes(900, b' xmlns:p%d="urn:u"') + b">" + wrapped + b"</r>"
        return lambda: rows_of(file)

    assert seconds(work(4_000)) < 3 * seconds(work(2_000)) + 0.2


@pytest.mark.timed
@pytest.mark.slow
def test_a_long_tag_or_comment_is_looked_at_a_few_times_however_small_the_chunks() -> None:
    def work(size: int, form: bytes) -> Callable[[], object]:
        file = b"<r>" + form % (b"x" * size) + b"<item/></r>"
        chunks = [file[at : at + 4_096] for at in range(0, len(file), 4_096)]
        return lambda: list(read_rows("file", chunks, "item", LIMITS))

    for form in (b"<b a='%b'/>", b"<!--%b-->", b"<item a='%b'/>", b"<?p %b?>"):
        assert seconds(work(2 * MEGABYTE, form)) < 3 * seconds(work(MEGABYTE, form)) + 0.2


# -- what is kept of a rejected document

REJECTED = (
    *(b"<r>%b</z>", DOCTYPE + b"<r>%b</z>", DOCTYPE + b"<r>%b&u;</r>", DOCTYPE + b"<r>%b<p:a/></r>"),
    *(b"<?xml version='1.0' encoding='rot13'?><r>%b</r>", b"<?xml version='1.0' encoding='us-ascii'?><r>%b\xff</r>"),
    *(b"<r>%b<a" + attributes(1_001) + b"/></r>", b"<r>%b" + b"<a>" * 1_001, b"<r>%b<p:a/></r>"),
    *(b"<!DOCTYPE r SYSTEM 'x'><r>%b&u;</r>", b"<r>%b<a xmlns='" + b"u" * 2_000 + b"'/></r>"),
)


@pytest.mark.slow
def test_nothing_of_a_rejected_document_or_of_its_batch_is_kept_but_what_is_told() -> None:
    broker = Broker()
    broker.subscribe("/*[. = 'y']")
    text = b"x" * (4 * MEGABYTE)  # many times what the scan keeps of its columns for the next batch
    batch = [Document(document.replace(b"%b", text), f"bad-{at}") for at, document in enumerate(REJECTED)]
    batch.append(Document(b"<r>%b</r>" % text, "good"))
    kept = []
    gc.collect()
    gc.disable()  # what is only freed by the collector may stay for very long
    tracemalloc.start()
    try:
        for _ in range(3):
            broker.publish(batch)
            kept.append(broker.rejected)
            held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()

    assert len(kept[0]) == len(REJECTED)
    assert not any(error.__traceback__ or error.__context__ or error.__cause__ for error in kept[0])
    assert held < len(text) // 2
