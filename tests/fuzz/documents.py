"""Documents: the compiled scan and expat give the same events and the same rejections, and expat alone agrees."""

from __future__ import annotations

import re
from itertools import groupby, islice
from random import Random
from typing import Any
from xml.parsers import expat

from fuzz.case import ROOT, Case
from fuzz.grammar import document
from weft.documents.document import Document, Limits
from weft.documents.scan import BREAK, SEPARATOR, TEXT, Scan
from weft.workload import generate_documents, shipped

_LARGEST_SEED = 2_000  # bytes
_LIMITS = Limits(max_bytes=1 << 20, max_depth=60, max_attributes=40, max_nodes=5_000)
_OWN_REASONS = ("more than", "nested deeper", " bytes")
# What Weft decides by itself, before or beyond expat: declarations, encodings, names of instructions with a colon.
_BEYOND_EXPAT = re.compile(rb"<!DOCTYPE|<\?xml[^>]*encoding|<\?[^\s?>]*:|^(\xff\xfe|\xfe\xff|\0<|<\0)", re.DOTALL)
_WORDS = rb"""
<a>|</a>|<b/>|<p:a>|</p:a>| xmlns="u"| xmlns=""| xmlns:p="u"| xmlns:p=""| xmlns:xml="u"| xml:lang="en"| a="1"| p:a="1"
 a="&lt;"|&amp;|&#65;|&#x41;|&#0;|&#xD800;|&#x110000;|&e;|<![CDATA[|]]>|<!--|-->|--|<?t x?>
<!DOCTYPE a>|<!DOCTYPE a [<!ENTITY e "x">]>|<!DOCTYPE a [<!ATTLIST a b CDATA "c">]>|/>|</|<|>|&|"|'|=|:|]]|?>|<!
<?xml version="1.0" encoding="UTF-8"?>|<?xml version="1.0" encoding="iso-8859-1"?>|<?xml version="1.0"?>|<?p:t?>
""".strip().replace(b"\n", b"|")


class Documents:
    """Mutated documents, each between two good ones."""

    words = (
        *_WORDS.split(b"|"),
        *(b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xef\xbb\xbf", b"\xe2\x82", b"\xf4\x90\x80\x80"),
        *(
            b"\0",
            b"\r\n",
            b"\r",
            b"\t",
            b"\x1f",
            b"\xc3\xa9",
            b"\xf0\x9f\x98\x80",
            b"<?xml version='1.0' encoding='x'?>",
        ),
    )
    most_memory = 1_000

    def seeds(self) -> list[Case]:
        examples = [path.read_bytes() for path in sorted((ROOT / "examples").glob("*/0*.xml"))]
        made = [each for name in ("news", "book") for each in generate_documents(shipped(name), number=20, elements=12)]
        plain = [b'<r xmlns:p="u"><p:a x="1">t</p:a><b/></r>', b"<a><!-- c --><?p i?><![CDATA[x]]>&amp;</a>"]
        small = [data for data in (*made, *examples) if len(data) < _LARGEST_SEED]
        return [Case(data, ".xml") for data in (*plain * 10, *small)]

    def fresh(self, chance: Random) -> Case:
        return Case(document(chance), ".xml")

    def check(self, case: Case) -> None:
        compiled, slow = observed(case.data, compiled=True), observed(case.data, compiled=False)
        assert compiled == slow, f"compiled: {_difference(compiled, slow)}"
        rejected = compiled["rejected"]
        if _BEYOND_EXPAT.search(case.data) is None:
            expected = expat_reason(case.data)
            if not rejected or not any(word in rejected[0] for word in _OWN_REASONS):
                assert bool(rejected) == bool(expected), f"expat says {expected!r}, Weft {rejected!r}"


def observed(data: bytes, *, compiled: bool) -> dict[str, Any]:
    """All there is to see of a document, in a form that can be compared."""
    scanned = Scan(_LIMITS, compiled)
    for name, each in (("before", b"<before/>"), ("it", data), ("after", b"<after/>")):
        scanned.add(Document(each, name))
    starts = [at for at, event in enumerate(scanned.events) if event]
    number = {at: place for place, at in enumerate(starts)}  # of the start that something belongs to
    return {
        "events": _events(scanned),
        "offsets": scanned.offsets,
        "attributes": [
            (number[event], name, value)
            for event, name, value in zip(
                scanned.attribute_events, scanned.attribute_names, scanned.attribute_values, strict=True
            )
        ],
        "namespaces": [
            (number[event], declared)
            for event, declared in zip(scanned.namespace_events, scanned.namespaces, strict=True)
        ],
        "documents": [document.id for document in scanned.documents],
        "sources": scanned.sources,
        "rejected": [str(error) for error in scanned.rejected],
    }


def _events(scanned: Scan) -> list[object]:
    """Names, ends and texts; texts that nothing stands between are one, and what stands between others is nothing."""
    texts = iter(scanned.texts)
    merged: list[object] = []
    for is_text, group in groupby(scanned.events, lambda event: event == TEXT):
        several = list(group)
        merged += [("text", "".join(islice(texts, len(several))))] if is_text else several
    return [
        event
        for at, event in enumerate(merged)
        if event is not BREAK or (isinstance(merged[at - 1], tuple) and isinstance(merged[at + 1], tuple))
    ]


def expat_reason(data: bytes) -> str | None:
    """Why expat by itself rejects a document; None if it does not."""
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        return str(error)
    return None


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    name = next(name for name in one if one[name] != other[name])
    return f"{name}: {one[name]!r:.300} and {other[name]!r:.300}"
