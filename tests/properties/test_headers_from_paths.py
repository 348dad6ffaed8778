"""A header is the same whichever way a document is read for it, and its offsets are where expat finds the nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from profiles import examples
from strategies import NAMESPACED_ROOTS, PIECES, Open, documents
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.scan import scan_offsets
from weft.headers.configuration import configure
from weft.headers.header import ABSENT, PLAIN, SEVERAL, UTF8, decode
from weft.headers.producer import Producer

NAMESPACES = {"p": "urn:p", "q": "urn:q", "d": "urn:d", "e": "urn:default"}
PREFIXES = {uri: prefix for prefix, uri in NAMESPACES.items()}

#: Tags as people write them, with few names and all that may stand in an attribute.
TAGS = tuple(
    Open(name, attributes)
    for name in ("a", "b", "b", "c", "p:a", "q:b", "or-one-of-more-than-sixteen-bytes")
    for attributes in (
        *((), (), ('x="1"',), ("\n x\t= '2'", 'y=">"'), ("y=\"a='b' x=&quot;\"", 'x=""'), ('x="a\tb&#10;"',)),
        *(('p:x="1"', 'x="/>"'), ('xmlns:p="urn:q"', 'p:x="2"'), ('xmlns="urn:d"',), ('é="é"', "x='é' ")),
    )
)
INSIDE = (
    *("<b/>", "<c x='1' />", "<a><b/></a>", "<p:a p:x='&lt;'/>", "<![CDATA[]]>", "<![CDATA[]]><![CDATA[x]]>", "\r\n"),
    *("<!-- <a> -->", "<?p <a>?>", "]]", "&lt;a&gt;", "<![CDATA[<a x='1'>]]>", "x<!---->y", "a text of many bytes, é"),
)
DOCUMENTS = documents(TAGS, NAMESPACED_ROOTS, (*PIECES, *INSIDE, *INSIDE))

STEPS = ("a", "a", "b", "b", "c", "*", "p:a", "q:b", "*:a", "p:*", "or-one-of-more-than-sixteen-bytes")
BEFORE = ("/", "/", "//")
ENDS = ("", "", "", "/@x", "/@x", "//@x", "/@*", "/@p:x", "/text()", "/text()", "//text()")
VIEWS = st.builds(
    lambda steps, end: "".join(steps) + end,
    st.lists(st.builds(str.__add__, st.sampled_from(BEFORE), st.sampled_from(STEPS)), min_size=1, max_size=4),
    st.sampled_from(ENDS),
)


class Node(NamedTuple):
    """The names from the root to a node, and where it begins."""

    path: str
    offset: int


@dataclass
class Reader:
    """All nodes of a document, as expat tells them while it reads it from end to end."""

    data: bytes
    nodes: list[Node] = field(default_factory=list)
    declares_inside: bool = False
    _names: list[str] = field(default_factory=list)
    _in_text: bool = False
    _section: int | None = None

    def read(self) -> Reader:
        self._parser = parser = expat.ParserCreate("utf-8", "}")
        parser.namespace_prefixes = parser.ordered_attributes = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CommentHandler = parser.ProcessingInstructionHandler = self._part
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler, parser.EndCdataSectionHandler = self._open_section, self._close_section
        parser.StartNamespaceDeclHandler = self._declare
        parser.Parse(self.data, True)
        return self

    def _start(self, raw: str, attributes: list[str]) -> None:
        self._part()
        start = self._parser.CurrentByteIndex
        self._names.append(f"/{_expanded(raw)}")
        self._put("", start)
        for name in attributes[::2]:
            self._put(f"/@{_expanded(name)}", _attribute(self.data, start, _written(name)))

    def _end(self, _: str) -> None:
        self._part()
        self._names.pop()

    def _part(self, *_: str) -> None:
        self._in_text = False

    def _text(self, _: str) -> None:
        if not self._in_text:
            self._put("/text()", self._parser.CurrentByteIndex if self._section is None else self._section)
        self._in_text = True

    def _open_section(self) -> None:
        self._section = self._parser.CurrentByteIndex

    def _close_section(self) -> None:
        self._section = None

    def _declare(self, *_: object) -> None:
        self.declares_inside |= bool(self._names)

    def _put(self, leaf: str, offset: int) -> None:
        self.nodes.append(Node("".join(self._names) + leaf, offset))


def _expanded(raw: str) -> str:
    uri, brace, rest = raw.partition("}")
    return f"{{{uri}}}{rest.partition('}')[0]}".replace("/", "|") if brace else raw


def _written(raw: str) -> str:
    parts = raw.split("}")
    return f"{parts[2]}:{parts[1]}" if len(parts) == 3 else parts[-1]


_TAG = re.compile(rb"<[^\s/>]+")
_ATTRIBUTE = re.compile(rb"""\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")


def _attribute(data: bytes, start: int, written: str) -> int:
    """Where an attribute stands in a start tag."""
    tag = _TAG.match(data, start)
    assert tag is not None
    at = tag.end()
    while (found := _ATTRIBUTE.match(data, at)) is not None:
        if found[1].decode() == written:
            return found.start(1)
        at = found.end()
    raise AssertionError(f"no {written} in the tag at {start}")


def pattern_of(view: str) -> re.Pattern[str]:
    """What matches the names from the root to a node that a view selects."""
    pattern = ""
    for slashes, name in re.findall(r"(//?)([^/]+)", view):
        pattern += "(?:/[^/@()]+)*/" if slashes == "//" else "/"
        at, test = "@" * name.startswith("@"), name.removeprefix("@")
        prefix, colon, local = test.rpartition(":")
        namespace = r"(?:\{[^}]*\})?" if prefix == "*" else re.escape(f"{{{NAMESPACES[prefix]}}}") if colon else ""
        any_name = r"[^/@()]+" if not colon else r"[^/@()}]+"
        pattern += at + namespace + (any_name if local == "*" else re.escape(local))
    return re.compile(pattern)


def expected(reader: Reader, views: list[str]) -> tuple[int, ...]:
    found = [[node.offset for node in reader.nodes if pattern_of(view).fullmatch(node.path)] for view in views]
    return tuple(ABSENT if not each else SEVERAL if len(each) > 1 else each[0] for each in found)


@st.composite
def cases(draw: DrawFn) -> tuple[list[bytes], list[str]]:
    """Documents, and views that lead to nodes of them, to one or to more; and some that may lead nowhere."""
    batch = draw(st.lists(DOCUMENTS, min_size=1, max_size=3))
    paths = sorted({node.path for data in batch for node in Reader(data).read().nodes})
    views = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=8))
    widened = ["".join(_step(draw, name) for name in re.findall(r"/([^/]+)", path)) for path in views]
    return batch, list(dict.fromkeys(widened + draw(st.lists(VIEWS, max_size=4))))


def _step(draw: DrawFn, name: str) -> str:
    """A step to what has a name, or to that and more."""
    at, (uri, _, local) = "@" * name.startswith("@"), name.removeprefix("@").removeprefix("{").rpartition("}")
    tests = [f"{PREFIXES[uri]}:{local}" if uri else local]
    if local != "text()":
        tests += [*tests * 4, "*", f"*:{local}"]
    return draw(st.sampled_from(("/", "/", "/", "//"))) + at + draw(st.sampled_from(tests))


@examples(300)
@given(cases())
def test_offsets_are_those_of_expat_whichever_way_documents_are_read(case: tuple[list[bytes], list[str]]) -> None:
    batch, views = case
    producer = Producer(configure("v", views, namespaces=NAMESPACES))
    given = [Document(data, str(at)) for at, data in enumerate(batch)]

    made = producer.attach([*given, Document(b"<a><b></a>", "broken"), *given])
    by_nodes = producer.headers(read(given))

    assert made[: len(given)] == made[-len(given) :]
    assert made[len(given)].header is None
    for document, before, data in zip(made, given, batch, strict=False):
        assert document.header == by_nodes[id(before)]
        header, reader = decode(document.header), Reader(data).read()
        assert header.entries == expected(reader, views)
        assert header.root == reader.nodes[0].offset
        assert header.flags == UTF8 | PLAIN * (not reader.declares_inside)
        event(f"{min(len(set(header.entries) - {ABSENT, SEVERAL}), 3)} offsets")


@examples(150)
@given(st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_documents_without_a_doctype_need_no_node_table(batch: list[bytes]) -> None:
    given = [Document(data, str(at)) for at, data in enumerate(batch)]

    scanned = scan_offsets(given, Limits(), attributes=True, texts=True)

    assert scanned.left == []
    assert list(scanned.documents) == given


@examples(150)
@given(DOCUMENTS, st.lists(VIEWS, min_size=1, max_size=4, unique=True), st.sampled_from(["utf-16", "iso-8859-1"]))
def test_other_encodings_have_the_same_header_either_way(data: bytes, views: list[str], encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>{data.decode()}"
    document = Document(text.encode(encoding, "xmlcharrefreplace"), "it")
    producer = Producer(configure("v", views, namespaces=NAMESPACES))

    assert producer.attach([document])[0].header == producer.headers(read([document]))[id(document)]
