"""Documents: the compiled scan and expat give the same columns and the same rejections, and expat alone agrees.

What a narrow scan tells of paths and offsets is what the columns tell.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from random import Random
from typing import Any
from xml.parsers import expat

from fuzz.case import ROOT, Case
from fuzz.grammar import document
from weft.documents.document import Document, Limits
from weft.documents.names import SEPARATOR
from weft.documents.offsets import attribute_offset, text_offsets
from weft.documents.scan import DocumentOffsets, DocumentPaths, Scanned, scan, scan_offsets, scan_paths
from weft.workload import generate_documents, shipped

_LARGEST_SEED = 2_000  # bytes
SEVERAL = -2  # nodes have a path, instead of the offset of one
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
        for id, found in compiled["narrow offsets"].items():
            expected = compiled["offsets"][id]
            assert found == expected, f"offsets: {found!r:.300} and {expected!r:.300}"
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
    offsets = offsets_of_documents(scan_offsets(batch, _LIMITS, attributes=True, texts=True))
    # Of what is left nothing is told: also of rewritten documents, whose nodes begin elsewhere than in what was read.
    seen["offsets"], seen["narrow offsets"] = offsets_of_nodes(scanned, offsets.keys()), offsets
    return seen


def paths_of_nodes(scanned: Scanned) -> list[list[str]]:
    """For each document the paths of names that its nodes have, as texts."""
    found: list[set[str]] = [set() for _ in scanned.documents]
    for place, path, _, _ in _nodes(scanned):
        found[place].add(path)
    return [sorted(each) for each in found]


def _nodes(scanned: Scanned) -> Iterator[tuple[int, str, int, str | None]]:
    """Of each node its document, its path of names, the row of its element, and how its name is written if it is one
    of an attribute; elements, then attributes, then texts.
    """
    columns, names = {name: column.tolist() for name, column in scanned.columns.items()}, scanned.names.names
    paths: list[str] = []
    documents: list[int] = columns["document"]
    for row, (above, name) in enumerate(zip(columns["parent"], columns["name"], strict=False)):
        paths.append(f"{paths[above] if above >= 0 else ''}/{names[name]}")
        yield documents[row], paths[row], row, None
    attributes = zip(columns["attribute_name"], columns["attribute_tag"], strict=True)
    leaves = [(f"@{names[name]}", scanned.names.tags[tag]) for name, tag in attributes]
    owners = columns["parent"][len(paths) :]
    for owner, (name, written) in zip(owners, leaves, strict=False):
        yield documents[owner], f"{paths[owner]}/{name}", owner, written
    for owner in owners[len(leaves) :]:
        yield documents[owner], f"{paths[owner]}/text()", owner, None


def offsets_of_nodes(scanned: Scanned, wanted: Container[str]) -> dict[str, dict[str, int]]:
    """For documents, by their ids, where the one node of each path begins; SEVERAL where a document has several."""
    starts, texts = scanned.columns["start"].tolist(), dict[int, Iterator[int]]()
    found: dict[str, dict[str, int]] = {each.id: {} for each in scanned.documents if each.id in wanted}
    for place, path, row, written in _nodes(scanned):
        its = found.get(scanned.documents[place].id)
        if its is None:
            continue
        source, offset = scanned.sources[place], starts[row]
        if written is not None:
            offset = attribute_offset(source, offset, written)
        elif path.endswith("/text()"):
            offset = next(texts.setdefault(row, iter(text_offsets(source, offset))))
        its[path] = SEVERAL if path in its else offset
    return found


def paths_of_documents(documents: DocumentPaths) -> list[list[str]]:
    """The same of a narrow scan, as it says; no path twice in a document, and parents first."""
    return [sorted(found) for found in _found(documents)]


def _found(documents: DocumentPaths | DocumentOffsets) -> Iterator[dict[str, int]]:
    """For each document the paths that were found, and where in the column."""
    known, names = {0: ""}, documents.names.names
    for start, end in pairwise(documents.begins.tolist()):
        found = documents.found[start:end].tolist()
        for path in found:
            code, number, is_attribute = documents.paths.last_name(path)
            name = f"{'@' * is_attribute}{names[number]}" if code else "text()"
            known[path] = f"{known[documents.paths.above(path)]}/{name}"
        assert len(found) == len(set(found))
        yield {known[path]: start + at for at, path in enumerate(found)}


def offsets_of_documents(documents: DocumentOffsets) -> dict[str, dict[str, int]]:
    """As `offsets_of_nodes`, as a narrow scan says."""
    told = zip(documents.documents, _found(documents), documents.roots, strict=True)
    offsets, result = documents.offsets.tolist(), {}
    for each, found, (root, start, _) in told:
        result[each.id] = {path: offsets[at] for path, at in found.items()}
        first = next(iter(found))
        assert first == f"/{documents.names.names[root]}", f"{first} is not the root"
        assert start == result[each.id][first], f"the root is at {start}"
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
