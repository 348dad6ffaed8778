"""Documents: the compiled scan and expat give the same columns and the same rejections, and expat alone agrees."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from typing import Any
from xml.parsers import expat

from fuzz.case import ROOT, Case
from fuzz.grammar import document
from weft.documents.document import Document, Limits
from weft.documents.names import SEPARATOR
from weft.documents.scan import DocumentPaths, Scanned, scan, scan_paths
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
        assert compiled["narrow"] == compiled["paths"], f"narrow: {compiled['narrow']!r:.300}"
        rejected = compiled["rejected"]
        if _BEYOND_EXPAT.search(case.data) is None:
            expected = expat_reason(case.data)
            if not rejected or not any(word in rejected[0] for word in _OWN_REASONS):
                assert bool(rejected) == bool(expected), f"expat says {expected!r}, Weft {rejected!r}"


def observed(*data: bytes, compiled: bool) -> dict[str, Any]:
    """All there is to see of documents between two others, in a form that can be compared."""
    batch = [Document(each, str(at)) for at, each in enumerate((b"<before/>", *data, b"<after/>"))]
    scanned = scan(batch, _LIMITS, compiled=compiled)
    names, tags, declared = scanned.names.names, scanned.names.tags, scanned.names.declared
    seen: dict[str, Any] = {name: column.tolist() for name, column in scanned.columns.items()}
    for name, told in (("name", names), ("attribute_name", names), ("tag", tags), ("attribute_tag", tags)):
        seen[name] = [told[at] for at in seen[name]]
    seen["declared"] = [declared[at] for at in seen["declared"]]
    seen["documents"] = [document.id for document in scanned.documents]
    seen["sources"] = scanned.sources
    seen["rejected"] = [str(error) for error in scanned.rejected]
    narrow = scan_paths(batch, _LIMITS, attributes=True, texts=True)
    seen["paths"] = paths_of_nodes(scanned), seen["rejected"]
    seen["narrow"] = paths_of_documents(narrow), [str(error) for error in narrow.rejected]
    return seen


def paths_of_nodes(scanned: Scanned) -> list[list[str]]:
    """For each document the paths of names that its nodes have, as texts."""
    columns, names = {name: column.tolist() for name, column in scanned.columns.items()}, scanned.names.names
    paths: list[str] = []
    found: list[set[str]] = [set() for _ in scanned.documents]
    for row, (place, name) in enumerate(zip(columns["document"], columns["name"], strict=True)):
        above = columns["parent"][row]
        paths.append(f"{paths[above] if above >= 0 else ''}/{names[name]}")
        found[place].add(paths[row])
    owners, elements = columns["parent"][len(paths) :], len(columns["attribute_name"])
    below = [f"@{names[name]}" for name in columns["attribute_name"]] + ["text()"] * (len(owners) - elements)
    for owner, name in zip(owners, below, strict=True):
        found[columns["document"][owner]].add(f"{paths[owner]}/{name}")
    return [sorted(each) for each in found]


def paths_of_documents(documents: DocumentPaths) -> list[list[str]]:
    """The same of a narrow scan, as it says; no path twice in a document, and parents first."""
    known, names = {0: ""}, documents.names.names
    result = []
    for start, end in pairwise(documents.begins.tolist()):
        found = documents.found[start:end].tolist()
        for path in found:
            code, number, is_attribute = documents.paths.last_name(path)
            name = f"{'@' * is_attribute}{names[number]}" if code else "text()"
            known[path] = f"{known[documents.paths.above(path)]}/{name}"
        assert len(found) == len(set(found))
        result.append(sorted(known[path] for path in found))
    return result


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
