"""A DOCTYPE in; the entities that it declares out, and what all references to them come to, before one is expanded.

expat goes a step down the C stack for each entity within an entity, until it crashes, and lets a document come to a
hundred times its size. So both are known, and bounded, before it expands anything. And it reads a reference that only
an external DTD could declare as nothing where it stands in a value. So what such references are to mean is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import name2codepoint

from weft.documents.doctype import HEAD, Doctype
from weft.documents.document import EntityPolicy, Limits
from weft.documents.source import SourceBytes
from weft.documents.tags import ASIDE, TAG

#: The public identifier of entities that are declared here, since the document does not: a use of them is an error.
UNDECLARED = "-//weft//undeclared"
_DEEPEST = 1_000  # entities in each other
_MOST_DECLARATIONS = 100_000  # of entities, and of the attributes of elements
_HTML = ("-//Netscape Communications//DTD RSS 0.91//EN", "-//W3C//DTD XHTML")
_IN_CONTENT = re.compile(
    ASIDE + rb"|&(?!#|amp;|lt;|gt;|quot;|apos;)([A-Za-z_:\x80-\xff][\w.:\-\x80-\xff]*+);", re.DOTALL
)
_LITERAL = rb"""(?:"[^"]*+"|'[^']*+')"""
_IN_SUBSET = re.compile(
    rb"""[^<"'%\]SP]*+(?:
      <!--(?:.*?-->|.*) | <\?(?:.*?\?>|.*)
    | <!ENTITY\s++%\s++[^\s"'<>]++\s++LITERAL
    | <!ENTITY\s++(?P<name>[^\s%"'<>]++)\s++(?:(?P<value>LITERAL)|(?=[SP]))
    | (?P<list><!ATTLIST\s++(?P<element>[^\s"'<>]++)(?P<attributes>(?:[^<>"']++|LITERAL)*+))
    | (?:SYSTEM|PUBLIC\s++LITERAL)\s++LITERAL
    | LITERAL
    | (?P<parameter>%)[^\s;]
    | (?P<end>\])
    | [<%SP"'] | \Z)""".replace(b"LITERAL", _LITERAL),
    re.DOTALL | re.VERBOSE,
)
_COLON = re.compile(rb"&([^#&;\s:]*+:[^&;\s]*+);")
_ATTRIBUTE = re.compile(rb"""#REQUIRED|#IMPLIED|("[^"]*+"|'[^']*+')""")  # how the declaration of each ends
_CHARACTER = re.compile(rb"&#(?:x([0-9A-Fa-f]{1,8})|([0-9]{1,8}));")


@dataclass(slots=True)
class Subset:
    """The declarations inside a document."""

    end: int  # the byte offset behind them
    declared: dict[bytes, bytes] = field(default_factory=dict)  # entities as written, b"" for external ones
    sizes: dict[bytes, int] = field(default_factory=dict)  # of the text of entities
    references: dict[bytes, list[bytes]] = field(default_factory=dict)  # to entities, of those that have some
    defaults: list[bytes] = field(default_factory=list)  # references in the default values of attributes
    attributes: dict[bytes, int] = field(default_factory=dict)  # how many are declared, by element
    lists: list[bytes] = field(default_factory=list)  # the declarations of attributes as written
    colon: tuple[int, bytes] | None = None  # the first reference by a name with a colon
    has_parameters: bool = False  # it refers to a parameter entity, which is not read


def read_subset(data: bytes, doctype: Doctype) -> Subset:
    """The declarations of a document; where they are not well-formed, as expat reads them up to there."""
    subset = Subset(doctype.at)
    for found in _IN_SUBSET.finditer(data, doctype.at + 1) if doctype.has_subset else ():
        name, value, whole, element, attributes, parameter, end = found.groups()
        subset.end = found.end()
        if end or len(subset.declared) + len(subset.lists) > _MOST_DECLARATIONS:
            break
        if subset.colon is None and (with_colon := _COLON.search(value or attributes or b"")):
            subset.colon = found.start("value" if value else "attributes") + with_colon.start(), with_colon[1]
        if parameter:
            subset.has_parameters = True
        elif element:
            endings = [ending[1] for ending in _ATTRIBUTE.finditer(attributes)]
            subset.attributes[element] = subset.attributes.get(element, 0) + len(endings)
            subset.lists.append(whole + b">")
            subset.defaults += (each for literal in endings if literal for each in _references(literal))
        # Behind a parameter entity that is not read nothing is known to be the first declaration of a name.
        elif name and name not in subset.declared and (doctype.is_standalone or not subset.has_parameters):
            subset.declared[name] = value or b""
            if value:
                subset.sizes[name] = len(value) - 2
                if b"&" in value:
                    subset.references[name] = list(_references(_CHARACTER.sub(_character, value)))
    return subset


def measure(subset: Subset, max_attributes: int) -> tuple[dict[bytes, int], str | None]:
    """The bytes that each entity comes to with all the entities in it, and what is too much for expat."""
    references = subset.references
    sizes = dict(subset.sizes)
    depths: dict[bytes, int] = {}
    for first in references:
        waiting = [first]
        opened = set()
        while waiting:
            name = waiting[-1]
            if name not in depths and name not in opened:
                opened.add(name)
                waiting += {each for each in references[name] if each in references and each not in depths} - opened
                continue
            waiting.pop()
            if name not in depths:  # an entity in it that is not known yet contains this one, and expat says so
                depths[name] = 1 + max((depths.get(each, 1) for each in references[name]), default=0)
                sizes[name] = min(1 << 60, sizes[name] + sum(sizes.get(each, 0) for each in references[name]))
    return sizes, _too_much(subset, max(depths.values(), default=1), max_attributes)


def _too_much(subset: Subset, depth: int, max_attributes: int) -> str | None:
    """expat looks at all attributes declared for an element again, for each that is declared and for each element."""
    if len(subset.declared) + len(subset.lists) > _MOST_DECLARATIONS:
        return f"more than {_MOST_DECLARATIONS} declarations of entities and attributes"
    if depth > _DEEPEST:
        return f"entities nested deeper than {_DEEPEST}"
    for element, number in subset.attributes.items():
        if number > max_attributes:
            name = element.decode("utf-8", "replace")
            return f"{number} attributes declared for <{name}>, more than {max_attributes}"
    return None


class Entities:
    """What the references of a document come to; raises DocumentError where that is too much."""

    def __init__(self, source: SourceBytes, doctype: Doctype, limits: Limits) -> None:
        self.subset = read_subset(source.data, doctype)
        self._source, self._doctype, self._limits = source, doctype, limits
        sizes, reason = measure(self.subset, limits.max_attributes)
        if reason:
            raise source.error(doctype.at, reason)
        if self.subset.colon is not None:
            offset, name = self.subset.colon
            raise source.error(offset, colon("an entity", name.decode("utf-8", "replace")))
        #: Whether a name may be declared where nobody looks.
        self.is_open = (doctype.is_external or self.subset.has_parameters) and not doctype.is_standalone
        self.undeclared = self._add_up(sizes)

    def declarations(self) -> bytes:
        """Declarations, to stand before those of the document, of all that it refers to and does not declare."""
        knows_html = (self._doctype.public or "").startswith(_HTML)
        policy = self._limits.undeclared_entities
        return b"".join(_declaration(name, knows_html, policy) for name in sorted(self.undeclared))

    def find_undeclared(self, offset: int) -> str | None:
        """The undeclared entity that a tag, or the reference at an offset, comes to."""
        data = self._source.data
        tag = TAG.match(data, offset)
        waiting = list(_references(data[offset : tag.end() if tag else data.find(b";", offset) + 1]))
        seen: set[bytes] = set()
        while waiting:
            name = waiting.pop()
            if name in self.undeclared:
                return name.decode("utf-8", "replace")
            if name not in seen:
                seen.add(name)
                waiting += self.subset.references.get(name, ())
        return None

    def _add_up(self, sizes: dict[bytes, int]) -> set[bytes]:
        """The names that the document refers to and does not declare; the sum of all others is bounded."""
        subset, data, most = self.subset, self._source.data, self._limits.max_bytes
        undeclared: set[bytes] = set()
        inside = {name for names in (*subset.references.values(), subset.defaults) for name in names}
        total = sum(sizes.get(name, 0) for name in subset.defaults)
        largest = max(sizes.values(), default=0)
        if self.is_open or total + data.count(b"&", subset.end) * largest > most:
            for found in _IN_CONTENT.finditer(data, subset.end):
                if (name := found[1]) is None:
                    continue
                if name in sizes:
                    total += sizes[name]
                    if total > most:
                        self._refuse(found.start())
                elif name not in subset.declared:
                    undeclared.add(name)
        if total > most:
            self._refuse(self._doctype.at)
        return (undeclared | (inside - subset.declared.keys())) if self.is_open else set()

    def _refuse(self, offset: int) -> None:
        most = self._limits.max_bytes
        raise self._source.error(offset, f"entity amplification: more than {most} bytes once its entities are expanded")


def colon(what: str, name: str) -> str:
    """Namespaces in XML, 7: no entity names, instruction targets or notation names contain colons."""
    return f"{what} with a colon in its name: {name}"


def _references(text: bytes) -> Iterator[bytes]:
    if b"&" in text:
        yield from (found[1] for found in _IN_CONTENT.finditer(text) if found[1])


def _character(reference: re.Match[bytes]) -> bytes:
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    return chr(code).encode("utf-8", "replace") if code <= 0x10FFFF else reference[0]


def _declaration(name: bytes, knows_html: bool, policy: EntityPolicy) -> bytes:
    if b":" in name:
        meaning = b'PUBLIC "%b" "%b"' % (UNDECLARED.encode(), name)
    elif knows_html and (code := name2codepoint.get(name.decode("utf-8", "replace"))):
        meaning = b'"&#%d;"' % code
    elif policy == "reject":
        meaning = b'PUBLIC "%b" "%b"' % (UNDECLARED.encode(), name)
    else:
        meaning = b'"&#38;#38;%b;"' % name if policy == "keep" else b'""'
    return b"<!ENTITY %b %b>" % (name, meaning)


def references_in(text: bytes) -> list[bytes]:
    """The names of the entities that a piece of XML refers to, but for the five that need no declaration."""
    return list(_references(text))


def declarations_for(subset: Subset, names: set[bytes]) -> bytes:
    """What of the declarations is needed where these entities, and any elements, may stand."""
    needed: dict[bytes, None] = {}
    waiting = [*subset.defaults, *sorted(names)] if subset.lists else sorted(names)
    while waiting:
        name = waiting.pop()
        if name in subset.declared and name not in needed:
            needed[name] = None
            waiting += subset.references.get(name, ())
    entities = (b"<!ENTITY %b %b>" % (name, subset.declared[name] or b'SYSTEM ""') for name in reversed(needed))
    return b"".join([*entities, *subset.lists])


def read_doctype(doctype: bytes) -> tuple[bytes, Subset]:
    """A whole `<!DOCTYPE …>`: the identifiers of its external DTD as written, and its declarations."""
    head = HEAD.match(doctype, len(b"<!DOCTYPE"))
    at = head.end() if head else len(doctype)
    identifiers = doctype[len(b"<!DOCTYPE") : at].split(None, 1)[1:]  # without a name expat refuses it
    found = Doctype(0, at, doctype.startswith(b"[", at), bool(identifiers), is_standalone=True)
    return b"".join(identifiers).rstrip(), read_subset(doctype, found)
