"""The worst documents that we know: each keeps the limits, and costs as much as a document of its size can.

A builder is given a number of bytes and makes a document of about that many. `make fuzz` and the table of costs in
docs/documents.md use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from weft.documents.tags import LONGEST_NAMESPACE

Builder = Callable[[int], bytes]
URI = b"u" * LONGEST_NAMESPACE


def _filled(start: bytes, pieces: Callable[[int], bytes], end: bytes, size: int) -> bytes:
    """Start and end, with as many pieces between them as there is room for."""
    parts, room = [start], size - len(start) - len(end)
    for number in count():
        room -= len(piece := pieces(number))
        if room < 0:
            break
        parts.append(piece)
    return b"".join((*parts, end))


def _repeated(start: bytes, piece: bytes, end: bytes, size: int) -> bytes:
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


def _attributes(number: int, form: bytes = b' a%d=""') -> bytes:
    return b"".join(form % at for at in range(number))


# -- what many small things cost


def empty_elements(size: int) -> bytes:
    return _repeated(b"<a>", b"<a/>", b"</a>", size)


def empty_elements_for_expat(size: int) -> bytes:
    return _repeated("<a>é".encode() + b"<\xc3\xa9/>", b"<a/>", b"</a>", size)


def texts_and_elements(size: int) -> bytes:
    return _repeated(b"<a>", b"x<a/>", b"</a>", size)


def texts_parted_by_comments(size: int) -> bytes:
    return _repeated(b"<a>", b"x<!---->", b"</a>", size)


def instructions(size: int) -> bytes:
    return _repeated(b"<a>", "<?é?>".encode(), b"</a>", size)


def sections(size: int) -> bytes:
    return _repeated(b"<a>", b"<![CDATA[]]>x", b"</a>", size)


def character_references(size: int) -> bytes:
    return _repeated(b"<a>", b"&#1;".replace(b"1", b"9"), b"</a>", size)


def many_attributes(size: int) -> bytes:
    return _repeated(b"<r>", b"<a" + _attributes(32) + b"/>", b"</r>", size)


def very_many_attributes(size: int) -> bytes:
    return _repeated(b"<r>", b"<a" + _attributes(1_000) + b"/>", b"</r>", size)


def distinct_names(size: int) -> bytes:
    return _filled(b"<r>", lambda at: b"<n%x/>" % at, b"</r>", size)


def distinct_attributes(size: int) -> bytes:
    return _filled(b"<r>", lambda at: b'<a n%x=""/>' % at, b"</r>", size)


def paths_that_collide(size: int) -> bytes:
    """Very many distinct paths, chosen so that a hash of two numbers without a seed puts them all side by side."""
    names = size // 190
    numbers = np.arange(names, dtype=np.uint64)
    document = [b"<r>", *(b"<p%d/>" % at for at in range(names)), *(b"<n%d/>" % at for at in range(names))]
    for at in range(names):
        key = (np.uint64(at + 2) << np.uint64(32)) | (2 * (names + 1 + numbers) + 1)  # as numbers come, in order
        near = np.flatnonzero((_unseeded(key) & np.uint64((1 << 17) - 1)) < 400)
        document += [b"<p%d>" % at, *(b"<n%d/>" % which for which in near.tolist()), b"</p%d>" % at]
    return b"".join((*document, b"</r>"))[: size - 4].rpartition(b"<p")[0] + b"</r>"


def _unseeded(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash as it could be read in a library's source: by factors that everybody knows."""
    low = (key & np.uint64(0xFFFFFFFF)) * np.uint64(0x9E3779B1)
    high = (key >> np.uint64(32)) * np.uint64(0x85EBCA77)
    both = (low ^ (high << np.uint64(1)) ^ (low >> np.uint64(15)) ^ (high >> np.uint64(13))) & np.uint64(0xFFFFFFFF)
    mixed: NDArray[np.uint64] = both ^ (both >> np.uint64(11))
    return mixed


# -- what is nested


def nested_elements(size: int) -> bytes:
    return _repeated(b"", b"<a>" * 999 + b"x" + b"</a>" * 999, b"", size).join((b"<r>", b"</r>"))


def nested_declarations(size: int) -> bytes:
    chain = b"".join(b'<p:a xmlns:p="u%d">' % at for at in range(999)) + b"</p:a>" * 999
    return _repeated(b"<r>", chain, b"</r>", size)


# -- what is long


def one_long_tag(size: int) -> bytes:
    return _repeated("<é ".encode(), b" ", b"/>", size)


def one_long_value(size: int) -> bytes:
    return _repeated('<é a="'.encode(), b"x", b'"/>', size)


def one_long_comment(size: int) -> bytes:
    return _repeated(b"<a><!--", "é".encode(), b"--></a>", size)


def one_long_name(size: int) -> bytes:
    return b"<" + b"a" * (size // 2 - 3) + b"></" + b"a" * (size // 2 - 3) + b">"


def one_long_text(size: int) -> bytes:
    return _repeated("<é>".encode(), b"x&lt;", "</é>".encode(), size)


# -- what namespaces cost


def long_namespace(size: int) -> bytes:
    return _repeated(b'<r xmlns="%b">' % URI, b"<a/>", b"</r>", size)


def long_namespace_of_attributes(size: int) -> bytes:
    return _repeated(b'<r xmlns:p="%b">' % URI, b"<a" + _attributes(999, b' p:a%d=""') + b"/>", b"</r>", size)


def declarations(size: int) -> bytes:
    return _filled(b"<r>", lambda at: b'<p:a xmlns:p="%x"/>' % at, b"</r>", size)


def declarations_on_the_root(size: int) -> bytes:
    root = b"<r" + _attributes(1_000, b' xmlns:p%d="u"') + b">"
    return _filled(root, lambda at: b"<p%d:a/>" % (at % 1_000), b"</r>", size)


# -- what a DOCTYPE costs

DOCTYPE = b"<!DOCTYPE r [<!ENTITY e 'x'>]>"


def rewritten_elements(size: int) -> bytes:
    return _repeated(DOCTYPE + b"<r>", b"<a/>", b"</r>", size)


def rewritten_spaces(size: int) -> bytes:
    return _repeated(DOCTYPE + b"<r ", b" ", b"/>", size)


def entity_references(size: int) -> bytes:
    return _repeated(DOCTYPE + b"<r>", b"&e;", b"</r>", size)


def entity_references_in_values(size: int) -> bytes:
    return _repeated(DOCTYPE + b"<r>", b'<a x="&e;"/>', b"</r>", size)


def undeclared_references(size: int) -> bytes:
    start = b'<!DOCTYPE r PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "u"><r>'
    return _repeated(start, b"&uuml;", b"</r>", size)


def entity_declarations(size: int) -> bytes:
    declared = b"".join(b"<!ENTITY e%x ''>" % at for at in range(50_000))
    return _filled(b"<!DOCTYPE r [" + declared, lambda at: b"<!ELEMENT e%x ANY>" % at, b"]><r/>", size)


def entities_in_entities(size: int) -> bytes:
    declared = b"".join(b"<!ENTITY e%d '&e0;'>" % at for at in range(1, 50_000))
    return _repeated(b"<!DOCTYPE r [<!ENTITY e0 ''>%b]><r>" % declared, b"&e1;", b"</r>", size)


def entities_that_come_to_nothing(size: int) -> bytes:
    """Expansion to so many bytes, and no text; as large as expat wants it for that."""
    levels = b"<!ENTITY e0 ''><!ENTITY e1 '%b'><!ENTITY e2 '%b'>" % (b"&e0;" * 250, b"&e1;" * 40)
    return b"<!DOCTYPE r [%b]><r%b>%b</r>" % (levels, b" " * (size // 50), b"&e2;" * (size // 42_000))


def default_attributes(size: int) -> bytes:
    """As many attributes as may be, from a small document; `size` is what it is written out to."""
    declared = _attributes(1_000, b" a%d CDATA ''")
    written = len(_attributes(1_000)) + len(b"<a></a>")
    return b"<!DOCTYPE r [<!ATTLIST a%b>]><r>%b</r>" % (declared, b"<a/>" * (size // written))


def declared_attributes(size: int) -> bytes:
    """Attributes that are declared and not there: each element is compared with all of them."""
    declared = _attributes(1_000, b" a%d CDATA #IMPLIED")
    return _repeated(b"<!DOCTYPE r [<!ATTLIST a%b>]><r>" % declared, b"<a/>", b"</r>", size)


# -- what other encodings, and mistakes at the end, cost


def utf16_elements(size: int) -> bytes:
    return empty_elements(size // 2).decode().encode("utf-16")


def latin_elements(size: int) -> bytes:
    return b'<?xml version="1.0" encoding="iso-8859-2"?>' + empty_elements(size - 43)


def broken_at_the_end(size: int) -> bytes:
    return empty_elements(size - 1)[:-1] + b" x>"


#: By the limit that bounds them most.
WORST: dict[str, tuple[Builder, ...]] = {
    "max_bytes": (
        *(one_long_tag, one_long_value, one_long_comment, one_long_name, one_long_text),
        *(instructions, sections, character_references, rewritten_spaces, entity_references),
        *(undeclared_references, entity_declarations, entities_in_entities, entities_that_come_to_nothing),
    ),
    "max_nodes": (
        *(empty_elements, empty_elements_for_expat, texts_and_elements, texts_parted_by_comments),
        *(
            distinct_names,
            distinct_attributes,
            paths_that_collide,
            long_namespace,
            declarations,
            declarations_on_the_root,
        ),
        *(rewritten_elements, entity_references_in_values, declared_attributes),
        *(utf16_elements, latin_elements, broken_at_the_end),
    ),
    "max_depth": (nested_elements, nested_declarations),
    "max_attributes": (many_attributes, very_many_attributes, long_namespace_of_attributes, default_attributes),
}
